// What a recorder says beside its taps: a trace's optional metadata entries `assumptions`, what it took for granted where
// the run did not say, and `seen`, the causes that it saw at work.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace tally {

inline constexpr std::size_t most_assumptions = 100;

/// One a line, in their order, empty lines left out; long ones shortened. Behind the first hundred stands how many more
/// there are. Throws std::runtime_error where the file is no safetensors file.
std::vector<std::string> assumptions_of(const std::filesystem::path& trace_file);

/// The same of `seen`: names of causes, as `tally explain` knows them.
std::vector<std::string> seen_causes_of(const std::filesystem::path& trace_file);

}  // namespace tally
