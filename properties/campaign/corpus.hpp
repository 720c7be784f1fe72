// Failing cases, one JSON file each, named `<law>@<id>.json`: replayed before anything new is drawn.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

struct KeptCase {
  std::string law;
  std::filesystem::path file;
};

/// The kept cases of a folder, sorted by name; empty when there is no such folder.
std::vector<KeptCase> kept_cases(const std::filesystem::path& corpus);

/// Writes the case (atomically) and returns its file.
std::filesystem::path keep(const std::filesystem::path& corpus, const std::string& law, const std::string& id,
                           const Case& c);

}  // namespace tally
