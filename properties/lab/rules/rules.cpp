// `tally bench rules`: the same clean and faulty runs judged by published tolerance rules and by Tally's lenses.
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "oracle/case/io.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/lab/rules/score.hpp"
#include "properties/lab/rules/trial.hpp"
#include "properties/lab/study.hpp"

namespace tally::rules_study {
namespace {

constexpr int faulty_trials_at_effort_one = 4, clean_trials_at_effort_one = 60;  // of each setting

struct Job {
  TrialSetting setting;
  int trials = 0;
};

/// Whether a setting has a trial. Some have one where there is less than one for each setting of a fault, evenly over
/// all.
bool is_taken(std::size_t setting, double trials) {
  const double share = std::min(1.0, trials);
  return std::floor(share * static_cast<double>(setting + 1)) > std::floor(share * static_cast<double>(setting));
}

std::vector<Job> jobs_of(const StudyOptions& options) {
  const auto scaled = [&](int at_effort_one) {
    return std::max(1, static_cast<int>(std::lround(at_effort_one * options.effort)));
  };
  std::vector<const Fault*> all = faults();
  all.insert(all.begin(), nullptr);
  std::vector<Job> jobs;
  std::size_t faulty = 0;
  for (const Fault* fault : all) {
    for (const Dtype storage : storage_formats()) {
      for (const int exponent : {0, -10, -20}) {
        if (fault && !is_taken(faulty++, faulty_trials_at_effort_one * options.effort)) continue;
        jobs.push_back(
            {{fault, storage, exponent}, scaled(fault ? faulty_trials_at_effort_one : clean_trials_at_effort_one)});
      }
    }
  }
  return jobs;
}

/// A line for each trial, "-" where no draw showed the fault.
std::string run_job(const Job& job, const StudyOptions& options) {
  std::string lines;
  for (int i = 0; i < job.trials; ++i) {
    if (options.interrupted && *options.interrupted) break;
    const auto drawn = drawn_case(job.setting, i, options.seed, options.subject);
    lines += drawn ? text_of(run_trial(job.setting, drawn->c, *drawn->law, options.subject)) : "-";
    lines += "\n";
  }
  return lines;
}

std::string title_of(const Job& job) {
  return (job.setting.fault ? job.setting.fault->name : "clean runs") + " " +
         std::string(name_of(job.setting.storage)) + " " + size_name(job.setting.exponent);
}

void add_answer(Scoreboard& board, const Job& job, const std::string& answer) {
  if (answer.starts_with("crash: ")) throw std::runtime_error(title_of(job) + ": " + answer);
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    if (line == "-") {
      ++board.never_shown[job.setting.fault->name];
    } else {
      board.add(job.setting, trial_of(line));
    }
  }
}

Scoreboard play(const StudyOptions& options) {
  const std::vector<Job> jobs = jobs_of(options);
  std::size_t finished = 0;
  const auto answers = run_in_processes(
      jobs.size(), processes_for(options.subject.executor, options.processes),
      [&](std::size_t i) { return run_job(jobs[i], options); },
      [&](std::size_t i) {
        options.progress("[" + std::to_string(++finished) + "/" + std::to_string(jobs.size()) + "] " +
                         title_of(jobs[i]));
      });
  Scoreboard board;
  for (std::size_t i = 0; i < jobs.size(); ++i) add_answer(board, jobs[i], answers[i]);
  return board;
}

/// Each sentence once, with how often it came.
std::string listed(const std::vector<std::string>& sentences) {
  std::map<std::string, int> times;
  for (const std::string& sentence : sentences) ++times[sentence];
  std::string text;
  for (const auto& [sentence, count] : times) {
    text += (text.empty() ? "" : "; ") + sentence + (count == 1 ? "" : ", " + std::to_string(count) + " times");
  }
  return text;
}

std::string answer_of(const Scoreboard& board) {
  const Scores scores = together(board);
  const Score& tally = scores.front();
  std::string text = "Tally rejected " + std::to_string(tally.own.events) + " of " + std::to_string(tally.own.trials) +
                     " faulty runs and " + std::to_string(tally.clean.events) + " of " +
                     std::to_string(tally.clean.trials) +
                     " clean ones. Published rules, faults caught and false alarms:";
  for (std::size_t i = judges_of_tally; i < judges().size(); ++i) {
    text += (i == judges_of_tally ? " " : ", ") + judges()[i] + " " + percent(scores[i].own) + " and " +
            percent(scores[i].clean);
  }
  return text + ".";
}

void settle(Study& study, const Scoreboard& board) {
  const Score tally = together(board).front();
  if (tally.own.trials == 0 || tally.clean.trials == 0) {
    study.message = "nothing was compared";
    return;
  }
  // A missed run is reported, in answer, message and notes; an accused one must not be.
  study.status = board.alarmed.empty() ? Status::pass : Status::fail;
  if (!board.missed.empty()) study.message = "Tally missed: " + listed(board.missed);
  if (!board.alarmed.empty()) {
    study.message +=
        std::string(study.message.empty() ? "" : ". ") + "Tally accused clean runs: " + listed(board.alarmed);
  }
}

std::vector<std::string> notes_of(const Scoreboard& board) {
  std::vector<std::string> notes{
      "Every case is equal to its full batch by definition: it divides by the window's items, and BatchNorm runs over "
      "the window or is frozen. Every window is cut. Cases have the shape of each fault's own laws.",
      "A rule compares what a training script can: the unscaled gradients and the parameters after every window, "
      "accumulated against full batch, on the same kernels. Defaults by dtype are those of the storage format.",
      "Gradient size 1 is as drawn. 1e-3 and 1e-6 stand for 2^-10 and 2^-20 of it: with cross-entropy all rows belong "
      "to one class that the model is sure of; with mean squared error the last layer and the targets are scaled, and "
      "a "
      "dynamic loss scale is divided by as much.",
      "Faulty runs are those in which the fault changed a tap or broke a rule of the machine. A run that the host "
      "executor stops is compared as far as it got.",
      "What accuses clean runs: gradients that are exactly zero but for rounding (a bias before BatchNorm), Adam's "
      "steps along them, rounding to 16 bits once per micro-batch, and subnormal gradients without a loss scale.",
  };
  if (!board.missed.empty()) {
    notes.push_back(
        "A fault that Tally missed left every tensor within the bound of the declared arithmetic: the faulty run is as "
        "legal a rounding of the exact answer as the clean one. Such faults change the precision of a sum.");
  }
  std::string hidden;
  for (const auto& [fault, settings] : board.never_shown) {
    hidden += (hidden.empty() ? "" : ", ") + fault + " (" + std::to_string(settings) + ")";
  }
  if (!hidden.empty()) notes.push_back("Trials without a case that shows the fault: " + hidden + ".");
  return notes;
}

Study run(const StudyOptions& options) {
  const Scoreboard board = play(options);
  Study study;
  study.device = name_of(options.subject.executor);
  study.answer = answer_of(board);
  settle(study, board);
  study.tables = {table_by_judge(board), table_by_use(board), table_by_setting(board), table_by_fault(board),
                  table_of_rules()};
  study.plots = plots_of(board);
  study.notes = notes_of(board);
  return study;
}

const Register<StudyRunner> registered{{
    .family = "bench",
    .name = "rules",
    .question = "How many faults do published tolerance rules catch, and how often do they accuse a clean run, on the "
                "cases that Tally's lenses judge?",
    .run = run,
}};

}  // namespace
}  // namespace tally::rules_study
