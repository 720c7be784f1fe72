// `tally replay`: one case again, stage by stage.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "kernels/training_step/run/own_step.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/judge/bound_terms.hpp"
#include "properties/laws/run_and_check.hpp"
#include "reports/command_line/check/capture.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/kept_run.hpp"
#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line::replay_command {
namespace {

struct ReplayOptions {
  SubjectOptions subject;
  std::string what;           // token or case file
  std::string law;            // empty: the lenses alone, or the law in a kept case's file name
  std::string dump;           // folder for trace.safetensors and case.json
  int rank = -1, stage = -1;  // whose stages are shown; -1: of all
  std::string as;             // the framework whose way its ranks take; empty: the case's own
};

/// The case as a framework runs it. What does not go together stands in no file: the error names the option.
Case as_framework(const Case& c, const std::string& name) {
  const RankPreset* preset = find_rank_preset(name);
  if (preset == nullptr) throw UsageError("--ranks-as: '" + name + "' is none of `./tally list ranks`");
  if (!in_ranks(c))
    throw UsageError("--ranks-as: the case has one rank; expected windows that are lists of sizes, one list a rank");
  Case other = as_preset(c, *preset);
  if (auto errors = validate(other); !errors.empty())
    throw UsageError("--ranks-as " + name + ": the case cannot be run so: " + InvalidCase(std::move(errors)).what());
  return other;
}

/// The law a kept case's file name carries (`<law>@<id>.json`), else nothing.
std::string law_in(const std::string& what) {
  const std::string name = std::filesystem::path(what).filename().string();
  const auto at = name.find('@');
  return at == std::string::npos ? "" : name.substr(0, at);
}

/// Whether a stage itself is wrong, whatever the law says of the run.
bool a_stage_fails(const Outcome& outcome) {
  return std::any_of(outcome.checks.begin(), outcome.checks.end(), [](const TensorCheck& check) {
    const bool between_runs = check.lens == "relation" || check.lens == "bitwise";
    return check.status == Status::fail && (!between_runs || check.stage == "kernel");  // what the executor saw
  });
}

/// A law that narrows what it draws says something of those cases: of another one its relation need not hold.
Outcome outcome_of_foreign_case(const Law& law, const Case& c, const RunOptions& subject) {
  Outcome outcome = outcome_of(law, c, subject);
  const bool broken = outcome.status == Status::error || (outcome.status == Status::fail && !a_stage_fails(outcome));
  if (!broken) return outcome;
  const std::string said = outcome.status == Status::error ? "this one lacks what it works on"
                                                           : "of this one it would say: " + outcome.message;
  Outcome nothing = not_for("a case of the kind that it draws (`./tally verify --law " + law.name + "`); " + said);
  nothing.checks = std::move(outcome.checks);
  return nothing;
}

Outcome outcome_without_law(const Case& c, const RunOptions& subject) {
  try {
    CheckedRun checked = run_and_check(c, subject);
    const std::string left = checked.outcome.status == Status::pass ? steps_not_taken(c, checked.trace) : "";
    if (!left.empty()) checked.outcome.message = "not judged: " + left + ": every window overflowed and was skipped";
    return std::move(checked.outcome);
  } catch (const StepFailed& failed) {
    return outcome_of_failed_step(failed);
  }
}

/// A case that the subject cannot run has no trace; what the replay comes to says why.
void dump(const std::string& folder, const Case& c, const RunOptions& subject) {
  try {
    keep_run(folder, c, subject);
  } catch (const NotSupported&) {
    return;
  } catch (const StepFailed&) {
    return;
  }
  std::cerr << "wrote " << message_line(folder) << "/case.json and trace.safetensors\n";
}

void require_among(const char* option, int number, std::size_t count, const std::string& what) {
  if (number < static_cast<int>(count)) return;
  throw UsageError(std::string(option) + " is " + std::to_string(number) + "; the case has " + std::to_string(count) +
                   " " + what + (count == 1 ? "" : "s") + ", counted from 0");
}

int replay(const ReplayOptions& options) {
  if (!options.dump.empty()) require_dump_folder(options.dump);
  const bool given_as_token = is_token(options.what);
  const Case given = given_as_token ? case_of_token(options.what) : case_in(options.what);
  const Case c = options.as.empty() ? given : as_framework(given, options.as);
  require_stated(c);
  const RunOptions subject = subject_of(options.subject);
  require_known_kernels(c, subject);
  require_among("--rank", options.rank, most_ranks_of(c), "rank");
  require_among("--stage", options.stage, stages_of(c), "stage");
  const bool several = most_ranks_of(c) > 1;  // else no tap names one
  const std::string name = options.law.empty() ? law_in(options.what) : options.law;
  const Law* law = name.empty() ? nullptr : find_law(name);
  if (!name.empty() && !law) throw UsageError("no law is named '" + name + "'; see `./tally list laws`");
  const bool foreign = law && law->shape && !given_as_token && law_in(options.what) != law->name;
  const Outcome outcome = foreign ? outcome_of_foreign_case(*law, c, subject)
                          : law   ? outcome_of(*law, c, subject)
                                  : outcome_without_law(c, subject);
  if (!options.dump.empty()) dump(options.dump, c, subject);
  std::cout << title_of(c) << "\n";
  if (law) std::cout << "law " << law->name << ": " << law->statement << "\n";
  const std::vector<TensorCheck> shown = checks_of(c, outcome.checks, several ? options.rank : -1, options.stage);
  std::cout << stage_table(shown, true) << silent_stages(shown) << rank_table(c, shown)
            << suspect_list(outcome.suspects) << word_of(outcome.status);
  if (!outcome.message.empty()) std::cout << ": " << outcome.message;
  std::cout << "\n";
  switch (outcome.status) {
    case Status::pass:
      return pass;
    case Status::fail:
      return failed;
    case Status::error:
      return environment;
    default:
      return nothing_ran;
  }
}

void add_options(CLI::App& command, ReplayOptions& options) {
  add_subject(command, options.subject);
  command.add_option("case", options.what, "a token (tly1:…) or a case file")->required();
  command.add_option("--law", options.law, "the law to hold it to");
  command.add_option("--dump", options.dump, "folder for the case and its trace");
  command.add_option("--ranks-as", options.as, "run its ranks as a framework does (./tally list ranks)");
  command.add_option("--rank", options.rank, "show only this rank's stages")->check(CLI::Range(0, 4095));
  command.add_option("--stage", options.stage, "show only what this stage of a pipeline left")
      ->check(CLI::Range(0, 4095));
}

const RegisterCommand registered{{
    .place = 120,
    .name = "replay",
    .help = "run one case again and show every stage",
    .bind = with_options(add_options, replay),
    .around = in_own_process,
}};

}  // namespace
}  // namespace tally::command_line::replay_command
