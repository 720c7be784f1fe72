#include "reports/command_line/kept_run.hpp"

#include <system_error>

#include "kernels/subject/trace_bytes.hpp"
#include "oracle/case/io.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line {

std::uintmax_t keep_run(const std::filesystem::path& folder, const Case& c, const Subject& subject) {
  const std::string trace = bytes_of(run(c, subject));  // nothing is written before it stands
  const bool made = std::filesystem::create_directories(folder);
  const auto trace_file = folder / "trace.safetensors";
  const bool fresh = !std::filesystem::exists(trace_file);
  try {
    write_atomically(trace_file.string(), trace);
    write_atomically((folder / "case.json").string(), write_case(c));
  } catch (...) {
    std::error_code stays;
    if (fresh) std::filesystem::remove(trace_file, stays);
    if (made) std::filesystem::remove(folder, stays);
    throw;
  }
  return trace.size();
}

}  // namespace tally::command_line
