#include "reports/command_line/check/case_file.hpp"

#include <cstdint>
#include <filesystem>
#include <stdexcept>

#include "oracle/case/io.hpp"
#include "oracle/case/regular_file.hpp"
#include "reports/command_line/exit_codes.hpp"

namespace tally::command_line {

Case case_in(const std::string& file) {
  if (begins_as_safetensors(file))
    throw UsageError(file + ": found a safetensors file, expected a case, which is JSON");
  try {
    return read_case_file(file);
  } catch (const InvalidCase& problem) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(file, unknown)) throw;  // it names what is no file
    throw UsageError(file + ": " + problem.what());
  }
}

bool begins_as_safetensors(const std::string& file) {
  constexpr std::size_t length_bytes = 8;
  unsigned char first[length_bytes + 1];
  try {
    const RegularFile opened(file);
    opened.read(0, first, sizeof first);
    std::uint64_t header = 0;
    for (std::size_t i = length_bytes; i-- > 0;) header = header << 8 | first[i];
    return header <= opened.size() - length_bytes && first[length_bytes] == '{';
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace tally::command_line
