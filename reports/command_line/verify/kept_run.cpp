#include "reports/command_line/verify/kept_run.hpp"

#include <system_error>

#include "kernels/trace/trace_bytes.hpp"
#include "oracle/case/io.hpp"
#include "reports/record/write_together.hpp"

namespace tally::command_line {

std::uintmax_t keep_run(const std::filesystem::path& folder, const Case& c, const RunOptions& subject) {
  const std::string trace = bytes_of(run(c, subject));  // nothing is written before it stands
  const bool made = std::filesystem::create_directories(folder);
  try {
    write_together(
        {{(folder / "trace.safetensors").string(), trace}, {(folder / "case.json").string(), write_case(c)}});
  } catch (...) {
    std::error_code stays;
    if (made) std::filesystem::remove(folder, stays);
    throw;
  }
  return trace.size();
}

}  // namespace tally::command_line
