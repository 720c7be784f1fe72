// The verdict in one line, and all files of a run, written together.
#include "reports/report.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "reports/census/census.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

std::string inside(const Census& census) {
  std::string text =
      counted(census.checks - std::min(census.checks, census.vacuous_checks), "tensor check") + " inside their bounds";
  if (census.vacuous_checks > 0) text += ", " + grouped(census.vacuous_checks) + " vacuous";
  return text;
}

std::string share(std::uint64_t part, std::uint64_t whole, const char* of, const char* what) {
  return grouped(part) + " of " + counted(whole, of) + " " + what;
}

std::string what_failed(const Results& results, const Census& census) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const std::uint64_t failed = census.cases_of(Status::fail);
  if (failed > 0) add(share(failed, census.total, "case", "broke a law"));
  if (census.trainings_failed > 0)
    add(share(census.trainings_failed, results.training.size(), "training", "left the bounds"));
  if (census.faults_missed > 0) add(share(census.faults_missed, results.faults.size(), "seeded fault", "not caught"));
  if (census.controls_missing > 0)
    add(share(census.controls_missing, results.laws.size(), "law", "cannot fail: the control does not differ"));
  if (triggers_are_missing(results)) {
    const TriggerTotals totals = trigger_totals(results.triggers);
    add(share(totals.unreached, totals.expected, "trigger",
              totals.unreached == 1 ? "was not reached" : "were not reached"));
  }
  return text.empty() ? "a law failed" : text;
}

/// Why nothing was shown, where every vacuous case says the same; without a word its bounds are wider than its signals.
std::string nothing_shown(const Results& results) {
  std::optional<std::string> reason;
  for (const CaseRecord& c : results.cases) {
    if (c.status != Status::vacuous) continue;
    if (reason.value_or(c.message) != c.message) return "nothing was shown";
    reason = c.message;
  }
  const std::string said = one_line(reason.value_or(""));
  return (said.empty() ? "every bound is wider than its signal" : said) + ": nothing was shown";
}

std::string so_far(const Results& results, const Census& census) {
  const std::string reason = results.partial_reason.empty() ? "the run did not end" : one_line(results.partial_reason);
  return reason + ": " + inside(census) + " so far";
}

}  // namespace

std::string verdict_sentence(const Results& results) {
  const Census census = census_of(results);
  switch (verdict_of(results)) {
    case Status::fail:
      return "FAIL  " + what_failed(results, census) + (results.partial ? " (run incomplete)" : "");
    case Status::error:
      if (!results.certified.disagreements.empty()) return "ERROR  " + certified_sentence(results.certified);
      return "ERROR  " + share(census.cases_of(Status::error), census.total, "case", "could not be judged");
    case Status::pass:
      if (census.checks == 0 && !results.faults.empty())
        return "PASS  all " + counted(results.faults.size(), "seeded fault") + " caught";
      return "PASS  " + inside(census) + (results.shard.empty() ? "" : " (shard " + results.shard + ")");
    case Status::vacuous:
      return "VACUOUS  " + nothing_shown(results);
    case Status::not_run:
      break;
  }
  if (results.partial) return "INCOMPLETE  " + so_far(results, census);
  return "NOT RUN  " + (results.device_message.empty() ? "no case ran" : one_line(results.device_message));
}

int exit_code_of(const Results& results) {
  switch (verdict_of(results)) {
    case Status::pass:
      return 0;
    case Status::fail:
      return 1;
    case Status::error:
      return 3;
    default:
      return 4;
  }
}

std::vector<FileText> report_files(const Results& results, const std::filesystem::path& folder,
                                   const ReportContext& context) {
  return {{(folder / "results.json").string(), to_json(results)},
          {(folder / "report.html").string(), report_html(results, context)},
          {(folder / "junit.xml").string(), junit_xml(results)},
          {(folder / "summary.md").string(), summary_markdown(results)}};
}

void write_report(const Results& results, const std::filesystem::path& folder, const ReportContext& context) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder))
    throw std::runtime_error("cannot write the report to " + folder.string() + ": " +
                             (error ? error.message() : "it is not a folder"));
  write_together(report_files(results, folder, context));
}

}  // namespace tally
