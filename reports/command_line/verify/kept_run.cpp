// One case, run in a process of its own, told rank by rank, and kept.
#include "reports/command_line/verify/kept_run.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/trace/tap_name.hpp"
#include "kernels/trace/trace.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/case/sizes.hpp"
#include "properties/campaign/workers.hpp"
#include "reports/census/census.hpp"
#include "reports/command_line/output.hpp"
#include "reports/record/files.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line {

int in_own_process(const std::function<int()>& command) {
  std::cout.flush();  // not to be printed twice
  const auto run = [&command](std::size_t) { return std::to_string(command()); };
  const auto tell = [](std::size_t, const Death& death) {
    const bool failure = !death.from_outside;
    std::cout << (failure ? "fail" : "error") << ": the process that ran the case was ended by " << death.how
              << std::endl;
    return std::to_string(failure ? failed : environment);
  };
  const std::string answer = run_in_processes(
                                 1, 1, run, [](std::size_t) {}, nullptr, tell)
                                 .front();
  if (!answer.starts_with("crash: ")) return std::stoi(answer);
  std::cerr << "error: " << answer << "\n";
  return environment;
}

namespace {

using Names = std::set<std::string>;

std::string listed(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Names operations() {
  Names names;
  for (const RegisteredKernel* kernel : registered_kernels()) names.insert(kernel->operation);
  return names;
}

/// The variants of the executor; a product's way to multiply counts wherever it is known, as the others ignore it.
Names variants_of(const std::string& operation, ExecutorKind executor) {
  Names names;
  for (const RegisteredKernel* kernel : registered_kernels())
    if (kernel->operation == operation && (kernel->executor == executor || operation == "gemm"))
      names.insert(kernel->claim.variant);
  return names;
}

Names without_planted(Names names) {
  std::erase_if(names, [](const std::string& name) { return name.starts_with('~'); });
  return names;
}

}  // namespace

void require_known_kernels(const Case& c, const RunOptions& subject) {
  for (const auto& [operation, variant] : c.execution.kernels) {
    if (operation.starts_with("gemm.") || operation == most_blocks_key) continue;  // rules of the case hold these
    const std::string path = member_path("$.execution.kernels", operation);
    const Names variants = variants_of(operation, subject.executor);
    if (variants.empty())
      throw UsageError(path + ": found an operation without kernels, expected one of " + listed(operations()));
    if (!variant.empty() && !variants.contains(variant))
      throw UsageError(path + ": found " + json_string(variant) + ", expected one of " +
                       listed(without_planted(variants)) + " (tally list kernels)");
  }
}

namespace {

struct RankLine {
  std::size_t checks = 0, failed = 0, vacuous = 0, not_run = 0;
  std::string first;  // "w0/m1/loss", where the first fails
  friend bool operator==(const RankLine&, const RankLine&) = default;
};

/// The stage of a pipeline and the rank that a tap is of, each -1 where there are not several.
using Process = std::pair<int, int>;
Process process_of(const Case& c, const TensorCheck& check) {
  const auto name = tap_view_of(check.tap);
  if (!name) return {-1, -1};
  return {is_pipelined(c) ? stage_of_tap(c, tap_name_of(check.tap)) : -1, name->rank};
}

/// Window, micro-batch and stage of a tap.
std::string place_of(const std::string& tap) {
  const TapName name = of_rank(tap_name_of(tap), -1);
  const std::string text = name.text();
  return text.substr(0, text.size() - name.tensor.size() - 1);
}

void count(RankLine& row, const TensorCheck& check) {
  ++row.checks;
  row.failed += check.status == Status::fail;
  row.vacuous += check.status == Status::vacuous;
  row.not_run += check.status == Status::not_run;
  if (check.status == Status::fail && row.first.empty()) row.first = place_of(check.tap);
}

}  // namespace

std::string rank_table(const Case& c, const std::vector<TensorCheck>& checks) {
  std::map<Process, RankLine> found;
  for (const TensorCheck& check : checks)
    if (const Process process = process_of(c, check); process != Process(-1, -1)) count(found[process], check);
  if (found.empty()) return "";
  const bool in_stages = is_pipelined(c), in_ranks = most_ranks_of(c) > 1;
  const std::string what = in_stages && in_ranks ? "stage/rank" : in_stages ? "stage" : "rank";
  std::vector<std::vector<std::string>> rows = {{what, ">checks", ">failed", ">vacuous", ">not run", "first fails"}};
  for (auto first = found.begin(); first != found.end();) {
    auto last = first;
    const auto is_next = [&](const auto& other) {
      return other.first.first == first->first.first && other.second == first->second;
    };
    while (std::next(last) != found.end() && is_next(*std::next(last))) ++last;
    const auto [stage, rank] = first->first;
    std::string name = in_stages ? std::to_string(stage) + (in_ranks ? "/" : "") : "";
    if (in_ranks) name += std::to_string(rank) + (last == first ? "" : "-" + std::to_string(last->first.second));
    const RankLine& row = first->second;
    rows.push_back({name, std::to_string(row.checks), std::to_string(row.failed), std::to_string(row.vacuous),
                    std::to_string(row.not_run), row.first});
    first = std::next(last);
  }
  return columns(rows);
}

std::vector<TensorCheck> checks_of(const Case& c, const std::vector<TensorCheck>& checks, int rank, int pipe) {
  std::vector<TensorCheck> own;
  std::ranges::copy_if(checks, std::back_inserter(own), [&](const TensorCheck& each) {
    const auto [stage, of_rank] = process_of(c, each);
    return (rank < 0 || of_rank == rank) && (pipe < 0 || stage == pipe);
  });
  return own;
}

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
