// `tally merge`: the results of all shards as one report.
#include "reports/merge/merge.hpp"

#include <filesystem>
#include <iostream>

#include "properties/campaign/campaign.hpp"
#include "properties/campaign/coverage/coverage.hpp"
#include "properties/campaign/training/training.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/baseline.hpp"
#include "reports/command_line/verify/subject.hpp"
#include "reports/report.hpp"

namespace tally::command_line::merge_command {
namespace {

struct MergeOptions {
  std::vector<std::string> shards;  // results.json of each, or its folder
  std::string out = defaults::out;
};

namespace fs = std::filesystem;

Results results_at(const fs::path& given) {
  return results_of((fs::is_directory(given) ? given / "results.json" : given).string());
}

fs::path folder_of_shard(const fs::path& given) { return fs::is_directory(given) ? given : folder_of(given); }

/// Failing cases that the shards kept: their names are of law and case, so that none hides another. What lies beside
/// them is left there.
void copy_corpus(const fs::path& given, const fs::path& out) {
  for (const KeptCase& kept : kept_cases(folder_of_shard(given) / "corpus")) {
    try {
      keep_as(out / "corpus" / kept.file.filename(), case_of(kept));
    } catch (const std::runtime_error& problem) {
      std::cerr << "not kept: " << problem.what() << "\n";
    }
  }
}

/// A report in the folder of a shard would take the shard's place, or hide in what is thrown away with it.
void require_apart(const fs::path& out, const std::vector<std::string>& shards) {
  const fs::path whole = fs::weakly_canonical(fs::absolute(out));
  for (const std::string& given : shards) {
    const fs::path shard = fs::weakly_canonical(fs::absolute(folder_of_shard(given)));
    if (const fs::path inside = whole.lexically_relative(shard); inside.empty() || *inside.begin() != "..")
      throw UsageError("--out: " + out.string() + ": found the folder of the shard " + given +
                       ", or one in it; expected a folder outside all shards");
  }
}

int merge(const MergeOptions& options) {
  std::vector<Results> shards;
  for (const std::string& given : options.shards) shards.push_back(results_at(given));
  require_apart(options.out, options.shards);
  require_replaceable(options.out, report_names());
  std::vector<std::pair<std::string, std::string>> trainings;
  for (const TrainingProblem& problem : training_problems()) trainings.emplace_back(problem.dataset, problem.model);
  Results whole;
  try {
    whole = merged(std::move(shards), trainings);
  } catch (const std::runtime_error& problem) {
    std::cerr << "error: INCOMPLETE: " << message_line(problem.what()) << "\n";
    return nothing_ran;
  } catch (const std::invalid_argument& problem) {
    std::cerr << "error: INCOMPLETE: " << message_line(problem.what()) << "\n";
    return nothing_ran;
  }
  count_pairs(whole);
  require_writable(options.out);
  for (const std::string& given : options.shards) copy_corpus(given, options.out);
  write_report(whole, options.out);
  std::cout << terminal_summary(whole) << "report: " << (fs::path(options.out) / "report.html").string() << "\n";
  if (whole.partial) std::cerr << "error: INCOMPLETE: " << message_line(whole.partial_reason) << "\n";
  return exit_code_of(whole);
}

void add_options(CLI::App& command, MergeOptions& options) {
  command.add_option("shards", options.shards, "results.json of each shard, or its folder")->required();
  add_out(command, options.out, "folder for the report");
}

const RegisterCommand registered{{
    .place = 310,
    .name = "merge",
    .help = "merge the results of all shards of a campaign",
    .bind = with_options(add_options, merge),
}};

}  // namespace
}  // namespace tally::command_line::merge_command
