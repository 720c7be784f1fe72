#include "reports/command_line/verify/dump_folder.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "oracle/case/io.hpp"
#include "reports/command_line/exit_codes.hpp"

namespace tally::command_line {
namespace {

namespace fs = std::filesystem;

/// Tally writes a case in one spelling.
bool is_written_case(const fs::path& file) {
  try {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return write_case(read_case_file(file)) == text.str();
  } catch (const std::exception&) {
    return false;
  }
}

/// A header's length, its opening brace, and metadata that says so, wherever in the header: that of a model of many
/// tensors is long.
bool is_written_trace(const fs::path& file) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 27;
  std::ifstream in(file, std::ios::binary);
  std::uint64_t length = 0;
  in.read(reinterpret_cast<char*>(&length), sizeof length);
  std::error_code unknown;
  if (!in || length == 0 || length > std::min(longest, fs::file_size(file, unknown))) return false;
  std::string header(static_cast<std::size_t>(length), '\0');
  in.read(header.data(), static_cast<std::streamsize>(header.size()));
  return in && header.front() == '{' && header.find("\"tally_trace\"") != header.npos;
}

void require(const fs::path& file, bool (*is_written)(const fs::path&)) {
  std::error_code unknown;
  if (!fs::is_regular_file(file, unknown) || fs::file_size(file, unknown) == 0 || is_written(file)) return;
  throw UsageError("--dump: " + file.string() +
                   ": found a file that Tally did not write; expected none, or that of an earlier run: name another "
                   "folder, or move the file");
}

}  // namespace

bool holds_dump(const fs::path& folder) {
  return is_written_case(folder / "case.json") && is_written_trace(folder / "trace.safetensors");
}

void require_dump_folder(const fs::path& folder) {
  require(folder / "case.json", is_written_case);
  require(folder / "trace.safetensors", is_written_trace);
}

}  // namespace tally::command_line
