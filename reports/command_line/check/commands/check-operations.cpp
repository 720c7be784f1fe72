// `tally check-operations`: judge a recording of a program's operations.
#include <chrono>
#include <iostream>
#include <thread>

#include "oracle/case/tensors/regular_file.hpp"
#include "oracle/operations/rule.hpp"
#include "properties/operations/judged_recording.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/operations/operations_text.hpp"

namespace tally::command_line::check_operations_command {
namespace {

struct CheckOperationsOptions {
  std::string folder, profile;
  bool json = false;
  int threads = 0;
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

int check_operations(const CheckOperationsOptions& options) {
  const int threads =
      options.threads > 0 ? options.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  JudgedRecording judged;
  try {
    Recording recording(options.folder);
    const auto began = std::chrono::steady_clock::now();
    double next = 1;  // seconds until the first word
    judged = judge(recording, profile_of(options, recording.header()), threads, [&](double share) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      if (seconds < next) return;
      next = seconds + 5;
      const auto left = static_cast<long>(seconds * (1 - share) / std::max(share, 1e-9));
      show_progress("[" + std::to_string(static_cast<long>(100 * share)) + "/100] percent of the recording, about " +
                    std::to_string(left) + " s left");
    });
  } catch (const UsageError&) {
    throw;
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
  if (options.json)
    print_document(operations_json(judged));
  else
    std::cout << operations_text(judged, options.folder);
  if (judged.all.failed > 0) return failed;
  return judged.all.held > 0 ? pass : nothing_ran;
}

void add_options(CLI::App& command, CheckOperationsOptions& options) {
  command
      .add_option("folder", options.folder,
                  "folder with operations.jsonl and bits.bin, as python -m tally_recorder operations leaves it")
      ->required();
  command.add_option("--profile", options.profile,
                     "what the backend's kernels claim, a JSON file (default: what the recording says)");
  command.add_flag("--json", options.json, "print one JSON document");
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
