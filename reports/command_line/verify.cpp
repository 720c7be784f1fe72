// `tally verify`: the campaign and its report.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>

#include "properties/campaign/campaign.hpp"
#include "properties/campaign/fault_task.hpp"
#include "reports/command_line/commands.hpp"
#include "reports/command_line/progress.hpp"
#include "reports/command_line/subject.hpp"
#include "reports/report.hpp"

namespace tally::command_line {
namespace {

std::atomic<bool> interrupted_flag{false};

void on_interrupt(int) { interrupted_flag = true; }

double number_of(const std::string& text, const std::string& what, const std::string& expected) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(value > 0))
    throw UsageError(what + ": '" + text + "'; expected " + expected);
  return value;
}

std::optional<double> seconds_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const char unit = text.back();
  const double scale = unit == 'm' ? 60 : unit == 'h' ? 3600 : 1;
  const std::string number = unit == 's' || unit == 'm' || unit == 'h' ? text.substr(0, text.size() - 1) : text;
  return scale * number_of(number, "--time", "a duration such as 60s, 2m or 1h");
}

std::uint64_t seed_of(const std::string& text) {
  if (text == "random") return std::random_device{}();
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || text.size() > 18) {
    throw UsageError("--seed: '" + text + "'; expected a whole number or 'random'");
  }
  return std::stoull(text);
}

double effort_of(double given) {
  if (given > 0) return given;
  const char* scaled = std::getenv("TALLY_EFFORT");
  return scaled ? number_of(scaled, "TALLY_EFFORT", "a number above 0") : 1;
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
  campaign.processes = options.processes;
  campaign.interrupted = &interrupted_flag;
  campaign.progress = show_progress;
  return campaign;
}

/// Fails before hours of work, not after.
void require_writable(const std::filesystem::path& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw UsageError("--out: " + folder.string() + " cannot be made: " + problem.message());
  write_atomically((folder / "results.json").string() + ".probe", "");
  std::filesystem::remove((folder / "results.json").string() + ".probe", problem);
}

}  // namespace

int verify(const VerifyOptions& options) {
  CampaignOptions campaign = campaign_of(options);
  require_writable(options.out);
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  Results results = run_campaign(campaign);
  results.environment = environment_of(campaign.subject);
  results.device_message = device_message(campaign.subject);
  write_report(results, options.out);
  if (options.json) {
    std::cout << to_json(results);
  } else {
    std::cout << terminal_summary(results)
              << "report: " << (std::filesystem::path(options.out) / "report.html").string() << "\n";
  }
  return interrupted_flag ? interrupted : exit_code_of(results);
}

}  // namespace tally::command_line
