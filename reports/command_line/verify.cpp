// `tally verify`: the campaign and its report.
#include <filesystem>
#include <iostream>

#include "properties/campaign/campaign.hpp"
#include "properties/campaign/fault_task.hpp"
#include "reports/command_line/commands.hpp"
#include "reports/command_line/failures.hpp"
#include "reports/command_line/progress.hpp"
#include "reports/command_line/run_facts.hpp"
#include "reports/command_line/run_words.hpp"
#include "reports/command_line/subject.hpp"
#include "reports/report.hpp"
#include "reports/study/kept.hpp"

namespace tally::command_line {
namespace {

std::optional<double> seconds_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const char unit = text.back();
  const double scale = unit == 'm' ? 60 : unit == 'h' ? 3600 : 1;
  const std::string number = unit == 's' || unit == 'm' || unit == 'h' ? text.substr(0, text.size() - 1) : text;
  return scale * number_of(number, "--time", "a duration such as 60s, 2m or 1h");
}

CampaignOptions campaign_of(const VerifyOptions& options) {
  CampaignOptions campaign;
  campaign.subject = subject_of(options.subject);
  campaign.law_glob = options.law;
  campaign.precisions = precisions_of(options.precisions);
  campaign.effort = effort_of(options.effort);
  campaign.cases = options.cases;
  campaign.seconds = seconds_of(options.time);
  campaign.seed = seed_of(options.seed);
  campaign.corpus =
      options.corpus.empty() ? std::filesystem::path(options.out) / "corpus" : std::filesystem::path(options.corpus);
  campaign.training = !options.no_training && options.law == "*";
  campaign.shrink = !options.no_shrink;
  campaign.processes = options.processes;
  campaign.interrupted = &interruption();
  campaign.progress = show_progress;
  return campaign;
}

}  // namespace

int verify(const VerifyOptions& options) {
  const RunFacts facts;
  CampaignOptions campaign = campaign_of(options);
  require_writable(options.out);
  Results results = run_campaign(campaign);
  results.environment = environment_of(campaign.subject);
  results.device_message = device_message(campaign.subject);
  results.studies = kept_studies();
  write_report(results, options.out);
  dump_failures(results, campaign.subject, options.out);
  const int code = results.partial ? interrupted : exit_code_of(results);
  facts.write(options.out, to_json(results), code);
  if (options.json) {
    std::cout << to_json(results);
  } else {
    std::cout << terminal_summary(results)
              << "report: " << (std::filesystem::path(options.out) / "report.html").string() << "\n";
  }
  return code;
}

}  // namespace tally::command_line
