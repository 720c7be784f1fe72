// `tally check-operations`: judge a recording of a program's operations.
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <thread>

#include "oracle/case/tensors/regular_file.hpp"
#include "oracle/operations/rule.hpp"
#include "properties/operations/judged_recording.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/operations/operations_page.hpp"
#include "reports/operations/operations_text.hpp"
#include "reports/operations/repeat_script.hpp"
#include "reports/record/files.hpp"

namespace tally::command_line::check_operations_command {
namespace {

constexpr const char* page_name = "operations.html";
constexpr const char* document_name = "operations.json";

struct CheckOperationsOptions {
  std::string folder, profile, out;
  bool json = false;
  int threads = 0;
  std::int64_t operation = -1;  // alone; -1: all
};

oracle::operations::Profile profile_of(const CheckOperationsOptions& options, const RecordingHeader& header) {
  oracle::operations::Profile profile;
  if (options.profile.empty()) {
    if (!header.claims.empty()) profile.name = header.profile;
    profile.claims = {header.claims.begin(), header.claims.end()};
    return profile;
  }
  constexpr std::size_t most_bytes = std::size_t{1} << 24;
  try {
    const auto claims = claims_of_profile(RegularFile(options.profile).all(most_bytes));
    profile.claims = {claims.begin(), claims.end()};
  } catch (const std::runtime_error& problem) {
    throw UsageError(options.profile + ": " + problem.what());
  }
  profile.name = options.profile;
  return profile;
}

JudgedRecording all_of(Recording& recording, const CheckOperationsOptions& options) {
  const int threads =
      options.threads > 0 ? options.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto began = std::chrono::steady_clock::now();
  double next = 1;  // seconds until the first word
  return judge(recording, profile_of(options, recording.header()), threads, [&](double share) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (seconds < next) return;
    next = seconds + 5;
    const auto left = static_cast<long>(seconds * (1 - share) / std::max(share, 1e-9));
    show_progress("[" + std::to_string(static_cast<long>(100 * share)) + "/100] percent of the recording, about " +
                  std::to_string(left) + " s left");
  });
}

std::string out_of(const CheckOperationsOptions& options) { return options.out.empty() ? options.folder : options.out; }

/// The script that repeats an operation, as a file of the folder; none where nothing of it can be repeated.
std::vector<FileText> script_of(const JudgedOperation& operation, const RecordingHeader& header,
                                const CheckOperationsOptions& options) {
  const std::filesystem::path out = out_of(options);
  const std::string bits = (std::filesystem::proximate(options.folder, out) / "bits.bin").lexically_normal().string();
  std::string script = repeat_script(operation, header, bits);
  if (script.empty()) return {};
  require_replaceable(out, {repeat_name(operation.place)});
  return {{(out / repeat_name(operation.place)).string(), std::move(script)}};
}

int show_one(const JudgedOperation& operation, const RecordingHeader& header, const CheckOperationsOptions& options) {
  if (options.json) {
    print_document(operation_json(operation));
  } else {
    const std::vector<FileText> script = script_of(operation, header, options);
    write_together(script);
    std::cout << operation_text(operation, script.empty() ? "" : script.front().file);
  }
  if (operation.judged.fails()) return failed;
  return operation.judged.status == JudgedCall::held ? pass : nothing_ran;
}

int show_all(const JudgedRecording& judged, const CheckOperationsOptions& options) {
  const std::string document = operations_json(judged);
  if (options.json) {
    print_document(document);
  } else {
    std::vector<FileText> files;
    if (!judged.failures.empty()) files = script_of(judged.failures.front(), judged.header, options);
    const std::filesystem::path out = out_of(options);
    const OperationFiles written{(out / page_name).string(), files.empty() ? "" : files.front().file};
    files.push_back({(out / document_name).string(), document});
    files.push_back({written.page, operations_html(judged, options.folder, written.script)});
    write_together(files);
    std::cout << operations_text(judged, options.folder, written);
  }
  if (judged.all.failed > 0) return failed;
  return judged.all.held > 0 ? pass : nothing_ran;
}

int check_operations(const CheckOperationsOptions& options) {
  std::optional<Recording> recording;
  JudgedRecording judged;
  JudgedOperation one;
  try {
    recording.emplace(options.folder);
    if (!options.json) {
      if (options.operation < 0) require_replaceable(out_of(options), {page_name, document_name});
      require_writable(out_of(options));
    }
    if (options.operation < 0)
      judged = all_of(*recording, options);
    else
      one = judge_operation(*recording, profile_of(options, recording->header()), options.operation);
  } catch (const UsageError&) {
    throw;
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
  return options.operation < 0 ? show_all(judged, options) : show_one(one, recording->header(), options);
}

void add_options(CLI::App& command, CheckOperationsOptions& options) {
  command
      .add_option("folder", options.folder,
                  "folder with operations.jsonl and bits.bin, as python -m tally_recorder operations leaves it")
      ->required();
  command.add_option("--profile", options.profile,
                     "what the backend's kernels claim, a JSON file (default: what the recording says)");
  command
      .add_option("--operation", options.operation,
                  "judge this operation alone, by its number, and print all of its results")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--out", options.out,
                     "folder for operations.html, a page, operations.json, what --json prints, and a script that "
                     "repeats the first failure; the recording's where none is named");
  command.add_flag("--json", options.json, "print one JSON document, and write nothing");
  command.add_option("--threads", options.threads, "threads that judge (default: one a core)")
      ->check(CLI::Range(1, 256));
}

const RegisterCommand registered{{
    .place = 137,
    .name = "check-operations",
    .help = "judge a recording of a program's operations, one by one",
    .bind = with_options(add_options, check_operations),
}};

}  // namespace
}  // namespace tally::command_line::check_operations_command
