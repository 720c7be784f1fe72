#include "reports/command_line/verify/failures.hpp"

#include <iostream>
#include <system_error>

#include "oracle/case/io.hpp"
#include "properties/campaign/workers.hpp"
#include "reports/census/census.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/dump_folder.hpp"
#include "reports/command_line/verify/kept_run.hpp"

namespace tally::command_line {
namespace {

std::uintmax_t dump(const CaseRecord& record, const RunOptions& subject, const std::filesystem::path& folder) {
  const bool is_token = record.token.starts_with("tly1:");
  const Case c = is_token ? case_of_token(record.token) : read_case_file(record.token);
  return keep_run(folder, c, subject);
}

/// In a process of its own, as the case may have ended one before. Throws std::runtime_error where it does so again.
std::uintmax_t dump_apart(const CaseRecord& record, const RunOptions& subject, const std::filesystem::path& folder) {
  const auto job = [&](std::size_t) { return std::to_string(dump(record, subject, folder)); };
  const std::string answer = run_in_processes(1, processes_for(subject.executor, 1), job, [](std::size_t) {}).front();
  if (const std::string crash = "crash: "; answer.starts_with(crash))
    throw std::runtime_error(answer.substr(crash.size()));
  return std::stoull(answer);
}

/// "c-" and the twelve digits of a case's id.
bool is_of_a_case(const std::string& name) {
  constexpr std::size_t digits = 12;
  return name.size() == 2 + digits && name.starts_with("c-") &&
         name.find_first_not_of("0123456789abcdef", 2) == std::string::npos;
}

/// Takes away what an earlier run kept, and nothing else that somebody may have put beside it.
void remove_kept(const std::filesystem::path& failures) {
  std::error_code stays;
  if (!std::filesystem::is_directory(std::filesystem::symlink_status(failures, stays))) return;
  for (const auto& entry : std::filesystem::directory_iterator(failures, stays)) {
    if (entry.is_symlink() || !entry.is_directory() || !is_of_a_case(entry.path().filename().string())) continue;
    if (!holds_dump(entry.path())) continue;
    for (const char* kept : {"case.json", "trace.safetensors"}) std::filesystem::remove(entry.path() / kept, stays);
    std::filesystem::remove(entry.path(), stays);  // where that was all
  }
  std::filesystem::remove(failures, stays);
}

}  // namespace

void require_failures_folder(const std::filesystem::path& folder) {
  std::error_code unknown;
  const auto there = std::filesystem::symlink_status(folder / "failures", unknown);
  if (!std::filesystem::exists(there) || std::filesystem::is_directory(there)) return;
  throw UsageError("--out: " + (folder / "failures").string() +
                   ": found no folder; expected none of that name, or the folder of an earlier run's failing cases");
}

void dump_failures(const Results& results, const RunOptions& subject, const std::filesystem::path& folder) {
  std::size_t cases = 0;
  std::uintmax_t bytes = 0;
  remove_kept(folder / "failures");
  for (const CaseRecord* c : by_severity(results)) {
    if (c->status != Status::fail || cases == dumped_cases || bytes >= dumped_bytes) break;
    if (c->token.empty()) continue;
    ++cases;
    try {
      bytes += dump_apart(*c, subject, folder / "failures" / ("c-" + c->id));
    } catch (const std::exception& problem) {
      std::cerr << "not kept: the tensors of c-" << c->id << ": " << message_line(problem.what()) << "\n";
    }
  }
}

}  // namespace tally::command_line
