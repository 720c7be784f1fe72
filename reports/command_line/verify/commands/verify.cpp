// `tally verify`: the campaign and its report.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "properties/campaign/campaign.hpp"
#include "properties/campaign/coverage/coverage.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/kept_run.hpp"
#include "reports/command_line/verify/mpi.hpp"
#include "reports/command_line/verify/run_facts.hpp"
#include "reports/command_line/verify/subject.hpp"
#include "reports/record/kernel_times.hpp"
#include "reports/report.hpp"
#include "reports/study/study.hpp"
#include "reports/summary/summary.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally::command_line {
namespace {

std::optional<double> seconds_of(const std::string& text, const std::string& option) {
  if (text.empty()) return std::nullopt;
  const char unit = text.back();
  const double scale = unit == 'm' ? 60 : unit == 'h' ? 3600 : 1;
  const std::string number = unit == 's' || unit == 'm' || unit == 'h' ? text.substr(0, text.size() - 1) : text;
  constexpr double longest = 1000 * 3600;
  const std::string expected = "a duration such as 60s, 2m or 1h, at most 1000h";
  const double seconds = scale * number_of(number, option, expected);
  if (!(seconds <= longest)) throw UsageError(option + ": '" + text + "'; expected " + expected);
  return seconds;
}

/// The campaign that promises to reach every trigger: nothing is left out of it.
bool is_default(const VerifyOptions& options, const CampaignOptions& campaign) {
  return options.law == "*" && options.precisions == VerifyOptions().precisions && campaign.training &&
         !campaign.cases && !campaign.seconds && campaign.effort >= 1 && options.subject.fault.empty() &&
         options.subject.kernels.empty() && campaign.steered && !runs_elsewhere(options.subject);
}

/// What a shard is a part of.
std::string selection_of(const VerifyOptions& options) {
  std::string text = "laws " + options.law + ",";
  for (const std::string& precision : options.precisions) text += " " + precision;
  if (options.cases) text += ", " + std::to_string(*options.cases) + " cases each";
  if (!options.time.empty()) text += ", " + options.time;
  if (!options.subject.fault.empty()) text += ", fault " + options.subject.fault;
  for (const std::string& kernel : options.subject.kernels) text += ", kernel " + kernel;
  if (options.unsteered) text += ", unsteered";
  if (options.keep_going) text += ", keeping going";
  if (options.no_shrink) text += ", not shrunk";
  if (options.no_training) text += ", no training";
  return tree().empty() ? text : text + ", built from " + tree();
}

/// What else decides which cases are drawn, and which of them are on record.
std::string drawing_options(const VerifyOptions& options) {
  std::string text;
  if (options.law != VerifyOptions().law) text += " --law " + shell_word(options.law);
  if (group_size(options.subject.ranks)) text += " --ranks " + shell_word(options.subject.ranks);
  if (options.cases) text += " --cases " + std::to_string(*options.cases);
  if (!options.time.empty()) text += " --time " + shell_word(options.time);
  if (options.unsteered) text += " --unsteered";
  if (options.keep_going) text += " --keep-going";
  if (options.no_shrink) text += " --no-shrink";
  if (options.no_training) text += " --no-training";
  return text.empty() ? text : text.substr(1);
}

CampaignOptions campaign_of(const VerifyOptions& options) {
  CampaignOptions campaign;
  campaign.case_seconds = seconds_of(options.case_time, "--case-time").value_or(0);
  SubjectOptions subject = options.subject;
  subject.case_seconds = campaign.case_seconds;
  subject.interrupted = &interruption();
  campaign.subject = subject_of(subject);
  campaign.law_glob = options.law;
  campaign.precisions = precisions_of(options.precisions);
  campaign.effort = effort_of(options.effort);
  campaign.cases = options.cases;
  campaign.seconds = seconds_of(options.time, "--time");
  if (!options.shard.empty()) {
    campaign.shard = shard_name_of(options.shard);
    campaign.shard.selection = selection_of(options);
  }
  campaign.seed = seed_of(options.seed);
  campaign.corpus =
      options.corpus.empty() ? std::filesystem::path(options.out) / "corpus" : std::filesystem::path(options.corpus);
  campaign.training = !options.no_training && options.law == "*" && !runs_elsewhere(options.subject);
  campaign.keep_going = options.keep_going;
  campaign.shrink = !options.no_shrink;
  campaign.steered = !options.unsteered;
  campaign.processes = options.processes;
  campaign.kernel_times = options.kernel_times;
  campaign.triggers_required = is_default(options, campaign);
  campaign.interrupted = &interruption();
  campaign.progress = show_progress;
  return campaign;
}

/// Whether they could be written. What hours have found is shown in any case.
bool keep(const std::vector<FileText>& files) {
  try {
    write_together(files);
    return true;
  } catch (const std::runtime_error& problem) {
    std::cerr << "error: " << problem.what() << "\n";
    return false;
  }
}

/// Fails before the run, not in each of its cases.
void require_kernel_times(const std::filesystem::path& file) {
  const std::string place = "--kernel-times: " + file.string();
  std::error_code unknown;
  if (std::filesystem::exists(file, unknown) && !std::filesystem::is_regular_file(file, unknown))
    throw UsageError(place + ": found no file; expected one that this option wrote, or nothing");
  try {
    read_kernel_times(file);
    append_kernel_times(file, "", "", "", {});
  } catch (const std::runtime_error& problem) {
    throw UsageError("--kernel-times: " + std::string(problem.what()));
  }
}

/// Before the run: its folder takes a report.
void require_out(const std::string& out) {
  std::vector<std::string> names = report_names();
  names.push_back("run.json");
  require_replaceable(out, names);
  require_failures_folder(out);
  require_writable(out);
}

/// What one process of several cannot do, or would do otherwise than the others.
void require_across(const VerifyOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& expected) {
    throw UsageError("--across: found " + what + "; expected " + expected);
  };
  if (options.across != "mpi") refuse("'" + options.across + "'", "mpi");
  if (options.subject.ranks != "model")
    refuse("--ranks " + options.subject.ranks + " beside it", "--ranks model: a launcher in a launcher starts nothing");
  if (options.seed == "random") refuse("--seed random beside it", "a number, the same in every process");
  if (!options.kernel_times.empty()) refuse("--kernel-times beside it", "a run on one machine, whose times they are");
}

/// Its driver survives no fork, and the workers are forked.
void require_no_gpu(const CampaignOptions& campaign) {
  if (campaign.subject.executor == ExecutorKind::cuda)
    throw UsageError(
        "--across: found a GPU as the subject; expected --subject host or checked; a part for each GPU is "
        "--shard, and tally merge");
}

/// What decides which cases are drawn and what is on record of them, in words.
std::string campaign_words(const VerifyOptions& options, const CampaignOptions& campaign) {
  return selection_of(options) + ", seed " + std::to_string(campaign.seed) + ", effort " + shortest(campaign.effort) +
         ", subject " + (options.subject.subject.empty() ? "by itself" : options.subject.subject) +
         (options.shard.empty() ? "" : ", shard " + options.shard) + ", " + options.case_time + " a case, magnitude " +
         shortest(options.subject.magnitude) + (options.corpus.empty() ? "" : ", corpus " + options.corpus);
}

std::optional<AcrossRun> across_machines(const VerifyOptions& options, CampaignOptions& campaign) {
  require_no_gpu(campaign);
  AcrossOptions across{options.out, campaign_words(options, campaign), options.processes, !options.resume.empty()};
  across.lost_after = seconds_of(options.lost_after, "--lost-after").value_or(across.lost_after);
  return run_across(campaign, across, [&] { require_out(options.out); });
}

/// Once the report stands, or does not: whether there is more to do. Does not return where a process is lost, as MPI
/// would wait for it.
void close(AcrossRun& run, bool whole, const VerifyOptions& options, int code) {
  if (whole)
    run.journal.remove();
  else
    std::cerr << "what was found is kept: the same command with --resume " << shell_word(options.out) << " in place of "
              << "--out goes on with it\n";
  if (!run.left) return;
  std::cout << "a process was lost, and what it held was dealt again (run.json): the launcher is told to end it"
            << std::endl;
  run.left->abort(code);
}

}  // namespace

int verify(const VerifyOptions& given) {
  const RunFacts facts;
  VerifyOptions options = given;
  if (!options.resume.empty()) options.out = options.resume;
  if (options.across.empty() && !(options.resume + options.lost_after).empty())
    throw UsageError((options.resume.empty() ? "--lost-after" : "--resume") +
                     std::string(": found without --across; expected it in a campaign over machines alone"));
  if (!options.across.empty()) require_across(options);
  CampaignOptions campaign = campaign_of(options);
  std::optional<AcrossRun> across;
  Results results;
  if (options.across.empty()) {
    require_out(options.out);
    if (!options.kernel_times.empty()) require_kernel_times(options.kernel_times);
    if (options.seed == "random") std::cerr << "seed " << campaign.seed << "\n";
    results = run_campaign(campaign);
  } else {
    across = across_machines(options, campaign);
    if (!across) return pass;  // the first process has it all
    results = CampaignWork(campaign).results(across->answers);
  }
  results.environment = environment_of(campaign.subject, options.subject);
  results.device_message = device_message(campaign.subject);
  results.studies = kept_studies();
  results.options = drawing_options(options);
  count_pairs(results);
  const int code = results.partial ? interrupted : exit_code_of(results);
  std::vector<FileText> files = report_files(results, options.out);
  files.push_back(facts.file(options.out, files.front().text, code, across ? across->facts : ""));
  const bool kept = keep(files);
  if (kept) dump_failures(results, campaign.subject, options.out);
  if (const char* actions = std::getenv("GITHUB_ACTIONS"); actions && *actions)
    std::cerr << github_annotations(results);
  if (options.json) {
    print_document(files.front().text);
  } else {
    std::cout << terminal_summary(results) << launch_path_words(results, options.subject.kernels);
    if (kept) std::cout << "report: " << (std::filesystem::path(options.out) / "report.html").string() << "\n";
  }
  if (across) close(*across, kept && !results.partial, options, kept ? code : environment);
  return kept ? code : environment;
}

namespace {

void add_what_runs(CLI::App& command, VerifyOptions& options) {
  add_subject(command, options.subject);
  command.add_option("--law", options.law, "laws to run, as shell patterns")->capture_default_str();
  command.add_option("--precision", options.precisions, "storage formats to run")
      ->delimiter(',')
      ->capture_default_str();
  CLI::Option* effort = add_effort(command, options.effort);
  command.add_option("--cases", options.cases, "cases per law and precision")->check(above_zero())->excludes(effort);
  command.add_option("--time", options.time, "stop drawing after this long, such as 60s or 2m");
  command.add_option("--case-time", options.case_time, "a case that takes longer is an error")->capture_default_str();
  command.add_option("--shard", options.shard, "run one part of the campaign, such as 2/4 (see ./tally merge)");
  add_seed(command, options.seed);
}

void add_across(CLI::App& command, VerifyOptions& options) {
  add_out(command, options.out, "folder for the results");
  command.add_option("--across", options.across,
                     "mpi: share the campaign out among the processes that mpirun or srun started with this one");
  command.add_option("--resume", options.resume, "folder of a campaign over machines that was ended: go on with it")
      ->excludes(command.get_option("--out"));
  command.add_option("--lost-after", options.lost_after,
                     "with --across, how long a process may be silent before its work is dealt again (default: 60s)");
}

void add_options(CLI::App& command, VerifyOptions& options) {
  add_what_runs(command, options);
  add_across(command, options);
  command.add_option("--corpus", options.corpus, "folder of failing cases, replayed first (default: OUT/corpus)");
  add_processes(command, options.processes);
  command.add_flag("--no-training", options.no_training, "leave out the digits and tutorial trainings");
  command.add_option("--kernel-times", options.kernel_times,
                     "file that the times of every case's kernels are added to");
  command.add_flag("--unsteered", options.unsteered,
                   "draw every case from the seed alone, so that other kernels are shown the same ones");
  command.add_flag("--keep-going", options.keep_going, "draw all cases of a law, also after one of them failed");
  command.add_flag("--no-shrink", options.no_shrink, "record failing cases as drawn, without making them smaller");
  command.add_flag("--json", options.json, "print results.json instead of the summary");
}

const RegisterCommand registered{{
    .place = 100,
    .name = "verify",
    .help = "run the campaign and write its report",
    .bind = with_options(add_options, verify),
}};

}  // namespace
}  // namespace tally::command_line
