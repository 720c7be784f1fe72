// What a recorder took for granted where the run did not say: a trace's optional metadata entry `assumptions`.
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

}  // namespace tally
