// `tally report`: stored results, rendered again.
#include "reports/report.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/baseline.hpp"
#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line::report_command {
namespace {

struct ReportOptions {
  std::string results, out, baseline;
  std::vector<std::string> studies, history;
};

/// In place of the study of the same name, or beside the others.
void take(Results& results, Study study) {
  const auto same = std::find_if(results.studies.begin(), results.studies.end(),
                                 [&study](const Study& s) { return s.family == study.family && s.name == study.name; });
  if (same == results.studies.end()) {
    results.studies.push_back(std::move(study));
  } else {
    *same = std::move(study);
  }
}

int report(const ReportOptions& options) {
  namespace fs = std::filesystem;
  const fs::path given = options.results, beside = given.parent_path().empty() ? "." : given.parent_path();
  Results results = results_of(options.results);
  if (options.out.empty() && given.filename() != "results.json")
    throw UsageError(options.results +
                     ": found results of another name than results.json, beside which another run's " +
                     "report may stand; expected --out FOLDER");
  const fs::path folder = options.out.empty() ? beside : fs::path(options.out);
  for (const std::string& file : options.studies) take(results, study_at(file));
  ReportContext context;
  context.file_of = file_of;
  if (!options.baseline.empty()) context.baseline = baseline_at(options.baseline);
  for (const std::string& file : options.history)
    for (HistoryEntry& run : history_at(file)) context.history.push_back(std::move(run));
  require_replaceable(folder, report_names());
  write_report(results, folder, context);
  std::cout << verdict_sentence(results) << "\n";
  return pass;
}

void add_options(CLI::App& command, ReportOptions& options) {
  command.add_option("results", options.results, "results.json of a run")->required();
  command.add_option("--out", options.out, "folder to write to (default: beside the results)");
  command.add_option("--study", options.studies, "NAME.json of a study to show in place of the kept one of its name");
  command.add_option("--baseline", options.baseline, "baseline file to compare with on the page");
  command.add_option("--history", options.history,
                     "history (.jsonl) or results.json of earlier runs, the oldest first");
}

const RegisterCommand registered{{
    .place = 300,
    .name = "report",
    .help = "render results again",
    .bind = with_options(add_options, report),
}};

}  // namespace
}  // namespace tally::command_line::report_command
