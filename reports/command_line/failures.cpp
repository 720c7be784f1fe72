#include "reports/command_line/failures.hpp"

#include <iostream>

#include "oracle/case/io.hpp"
#include "reports/census/census.hpp"

namespace tally::command_line {
namespace {

std::uintmax_t dump(const CaseRecord& record, const Subject& subject, const std::filesystem::path& folder) {
  const bool is_token = record.token.starts_with("tly1:");
  const Case c = is_token ? case_of_token(record.token) : read_case_file(record.token);
  std::filesystem::create_directories(folder);
  write_atomically((folder / "case.json").string(), write_case(c));
  const auto trace = folder / "trace.safetensors";
  write_trace(run(c, subject), trace);
  return std::filesystem::file_size(trace);
}

}  // namespace

void dump_failures(const Results& results, const Subject& subject, const std::filesystem::path& folder) {
  std::size_t cases = 0;
  std::uintmax_t bytes = 0;
  std::filesystem::remove_all(folder / "failures");
  for (const CaseRecord* c : by_severity(results)) {
    if (c->status != Status::fail || cases == dumped_cases || bytes >= dumped_bytes) break;
    if (c->token.empty()) continue;
    ++cases;
    try {
      bytes += dump(*c, subject, folder / "failures" / ("c-" + c->id));
    } catch (const std::exception& problem) {
      std::cerr << "not kept: the tensors of c-" << c->id << ": " << problem.what() << "\n";
    }
  }
}

}  // namespace tally::command_line
