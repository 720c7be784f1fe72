// What tells one campaign from another: whoever takes part in it, or goes on with it, must mean the same.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "properties/campaign/corpus.hpp"

namespace tally {

struct Heading {
  std::string campaign;           // laws, precisions, seed and all else that decides what is drawn, in words
  std::string program;            // hash of the program's file
  std::size_t pieces = 0;         // that the campaign has
  std::vector<std::string> kept;  // names of the cases that are replayed, in the campaign's corpus
};

/// On one line.
std::string text_of(const Heading& heading);
/// Throws std::runtime_error where it is none.
Heading heading_of(const std::string& text);

/// Empty where both mean the same campaign, whatever cases are replayed; else how the second differs, in words.
std::string difference(const Heading& expected, const Heading& found);

std::vector<std::string> names_of(const std::vector<KeptCase>& cases);
/// Those of a corpus that have these names. Throws std::runtime_error where one is not there.
std::vector<KeptCase> kept_cases_of(const std::filesystem::path& corpus, const std::vector<std::string>& names);

}  // namespace tally
