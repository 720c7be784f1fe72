#include "reports/command_line/dump_folder.hpp"

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

/// A header's length, its opening brace, and metadata that says so, first of all.
bool is_written_trace(const fs::path& file) {
  constexpr std::size_t looked_at = 1u << 16;
  std::string head(looked_at, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head.size() > 8 && head[8] == '{' && head.find("\"tally_trace\"") != head.npos;
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
