// Where in the user's program the calls stand that a recorder saw: a trace's optional metadata entry `places`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace tally {

struct CodePlace {
  std::string file;
  std::int64_t line = 0;
  std::string text;  // of the line; may be empty
};

/// By the kind of call: "loss", "backward", "unscale", "clip", "step"; others are passed over. Empty where there is no
/// such entry. Throws std::runtime_error with the place, what was found and what was expected.
std::map<std::string, CodePlace> places_of(const std::filesystem::path& trace_file);

}  // namespace tally
