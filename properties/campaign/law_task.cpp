#include "properties/campaign/law_task.hpp"

#include <chrono>
#include <iostream>

#include "kernels/training_step/run/own_step.hpp"
#include "oracle/case/io.hpp"
#include "properties/campaign/campaign.hpp"
#include "properties/campaign/coverage/coverage.hpp"
#include "properties/campaign/provenance/operation.hpp"
#include "properties/campaign/shrink.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/judge/certified.hpp"
#include "properties/laws/law.hpp"
#include "reports/record/kernel_times.hpp"

namespace tally {
namespace {

constexpr double pairs_worth = 32;       // an error at its bound counts as many new pairs of triggers
constexpr double runs_of_own_step = 64;  // of a case: each has a limit of its own, in the process that it runs in
constexpr double longest_shrinking = 5;  // in units of the limit of one case
/// Kept cases come before: those that a run keeps must not move the steps of the one after it.
constexpr std::uint64_t first_drawn_step = 1u << 16;

class LawTask {
 public:
  LawTask(const Law& law, Dtype storage, const CampaignOptions& options, const Abandon& abandon, Died died)
      : law_(law),
        storage_(storage),
        options_(options),
        abandon_(abandon),
        died_(died),
        coverage_(options.subject.executor),
        controls_(law, options.subject) {
    if (abandon_ && options_.case_seconds > 0) watchdog_.emplace(options_.case_seconds, [this] { give_up(); });
  }

  TaskResult run() {
    replay_corpus();
    step_ = std::max(step_, first_drawn_step);
    if (!ended_) draw_cases();
    if (controls_.all_declined()) count_for_nothing();
    result_.triggers = coverage_.records();
    return std::move(result_);
  }

 private:
  void replay_corpus() {
    for (const KeptCase& kept : replayed_by(options_)) {
      if (kept.law != law_.name || ended_) continue;
      const auto c = case_in(kept);
      if (!c || c->precision.storage != storage_) continue;
      replay(*c);
    }
  }

  /// Nothing where the file holds none: an error of one task, as its precision cannot be told.
  std::optional<Case> case_in(const KeptCase& kept) {
    try {
      return case_of(kept);
    } catch (const std::exception& problem) {
      if (storage_ == options_.precisions.front()) {
        result_.cases.push_back(no_case(kept, problem.what()));
        result_.cases.back().precision = name_of(storage_);
      }
      return std::nullopt;
    }
  }

  void replay(const Case& c) {
    const OperationScope operations;
    const Outcome outcome = watched_outcome(c);
    CaseRecord record = record_of(c, law_, outcome);
    record.operations = operations.records(c, outcome.checks);
    record.kernel = operations.failing_kernel(outcome.checks);
    record.title = "kept: " + record.title;
    result_.cases.push_back(std::move(record));
  }

  /// A step of a user's own declined whatever must differ, so that nothing shows that the law could have failed.
  void count_for_nothing() {
    for (CaseRecord& record : result_.cases) {
      if (record.status != Status::pass) continue;
      record.status = Status::vacuous;
      record.message =
          "the subject declined every control (" + law_.control + "): nothing shows that it could have failed";
    }
  }

  /// Whether a failing case has ended the task.
  bool over() const { return ended_ || (result_.failing && !options_.keep_going); }

  /// As many cases as asked for, one at least; then more plans, until the control has differed.
  void draw_cases() {
    PlanSource source = plans_of(law_, storage_, options_);
    for (int drawn = 0; drawn < cases_of(law_, options_) && (drawn == 0 || !out_of_time()) && !over(); ++drawn) {
      if (!step()) return result_.cases.push_back(undrawn_case(law_, storage_, *died_));
      const double score = try_one(source.next());
      if (options_.steered && !law_.designed) source.reward(score);
    }
    while (!result_.failing && controls_.wanted() && !interrupted()) {
      if (!step()) return result_.cases.push_back(undrawn_case(law_, storage_, *died_));
      const Plan plan =
          is_own() ? shaped_for_own_step(source.next(), law_, plainer_and_plainer.back()) : shaped(source.next(), law_);
      const Case c = case_of(plan);
      if (!try_control(c)) take_failing(plan, c, outcome_of_control());
    }
  }

  bool is_own() const { return own_step(options_.subject) != nullptr; }
  Outcome outcome_of_control() const {
    return failed_control_ ? *failed_control_ : outcome_of_death(*died_, "its control");
  }

  bool interrupted() const { return !died_ && options_.interrupted && *options_.interrupted; }

  bool out_of_time() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started_;
    return !died_ && (interrupted() || (options_.seconds && spent.count() > *options_.seconds));
  }

  /// A case that ran, and what was seen of it.
  struct Tried {
    Outcome outcome;
    std::vector<OperationRecord> operations;
    std::string kernel;  // that failed
    std::map<std::string, double> seconds;
    std::size_t new_pairs = 0;
  };

  Tried tried(const Plan& plan, const Case& c) {
    Tried seen;
    const CoverageScope scope(c, options_.subject.executor);
    const OperationScope operation_scope;
    const CertifiedSample sample(plan.seed);
    seen.outcome = watched_outcome(c);
    add(result_.certified, sample.record());
    seen.seconds = operation_scope.seconds();
    seen.operations = operation_scope.records(c, seen.outcome.checks);
    seen.kernel = operation_scope.failing_kernel(seen.outcome.checks);
    seen.new_pairs = coverage_.new_pairs(scope.runs());
    coverage_.add_case(scope.runs());
    return seen;
  }

  bool declined(const Outcome& outcome) const {
    return is_own() && outcome.status == Status::not_run && outcome.message.starts_with(declined_case);
  }

  /// How much the case showed that no earlier one of this task did, or how near it came to a bound. A step of a user's
  /// own is asked for plainer and plainer cases until it takes one.
  double try_one(const Plan& drawn) {
    Plan plan = is_own() ? shaped_for_own_step(drawn, law_, {}) : shaped(drawn, law_);
    Case c = case_of(plan);
    Tried seen = tried(plan, c);
    for (std::size_t next = 1; next < plainer_and_plainer.size() && declined(seen.outcome); ++next) {
      plan = shaped_for_own_step(drawn, law_, plainer_and_plainer[next]);
      Case plain = case_of(plan);
      if (plain == c) continue;
      c = std::move(plain);
      seen = tried(plan, c);
    }
    auto& [outcome, operations, kernel, seconds, new_pairs] = seen;
    if (outcome.status == Status::fail || outcome.status == Status::error) {
      take_failing(plan, c, outcome, std::move(operations), kernel);
      return 0;
    }
    const bool asks_for_more = is_own() && outcome.status == Status::not_run;  // a control is asked for no less
    if (!asks_for_more && !try_control(c)) {
      take_failing(plan, c, outcome_of_control());
      return 0;
    }
    result_.cases.push_back(record_of(c, law_, outcome));
    CaseRecord& record = result_.cases.back();
    record.seed = plan.seed;
    record.operations = std::move(operations);
    if (!options_.kernel_times.empty())
      append_kernel_times(options_.kernel_times, law_.name, record.precision, record.id, seconds);
    return static_cast<double>(new_pairs) +
           pairs_worth * std::max(record.worst_local_ratio, record.worst_end_to_end_ratio);
  }

  /// Whether to go on to what comes next. Once the process died of it: here the task ends.
  bool step() {
    ++step_;
    ended_ = ended_ || (died_ && step_ >= died_->step);
    if (!ended_) begin_step(step_);
    return !ended_;
  }

  /// While the watchdog waits, `watched_` is the case to blame.
  Outcome watched_outcome(const Case& c) {
    if (!step()) return outcome_of_death(*died_, "it");
    watched_ = &c;
    if (watchdog_) watchdog_->start(is_own() ? runs_of_own_step : 1);
    Outcome outcome = outcome_of(law_, c, options_.subject);
    if (watchdog_) watchdog_->stop();
    return outcome;
  }

  /// In the watchdog's thread, while this task's own is stuck in the watched case. A failure that was being made smaller
  /// stands as it was found.
  void give_up() {
    if (found_) {
      found_->message += not_made_smaller(longest_shrinking, options_.case_seconds);
      result_.cases.push_back(*found_);
      result_.failing = *watched_;
    } else {
      result_.cases.push_back(record_of(*watched_, law_, outcome_of_slow_case(options_.case_seconds)));
    }
    keep_failing(*watched_, result_.cases.back());
    result_.triggers = coverage_.records();
    abandon_(result_);
  }

  /// The first is made smaller and kept: it stands before that begins. `operations` and `kernel`: of the run of `c`; its
  /// smaller self is run once more for the kernel that fails there.
  void take_failing(const Plan& plan, const Case& c, const Outcome& outcome,
                    std::vector<OperationRecord> operations = {}, std::string kernel = {}) {
    const bool first = !result_.failing;
    ShrunkCase failing{c, outcome, 0};
    found_ = record_of(c, law_, outcome);
    found_->seed = plan.seed, found_->kernel = kernel, found_->operations = operations;
    const bool waits = is_own() && took_all_its_time(outcome);  // and would, again and again
    const bool smaller = first && options_.shrink && !waits && !ended_ && step();
    if (smaller) {
      watched_ = &c;
      if (watchdog_) watchdog_->start(longest_shrinking);
      failing = shrunk(law_, plan, outcome, options_.subject, elements_to_shrink, options_.interrupted);
      if (!kernel.empty() && failing.attempts > 0) {
        const NoDiagnosis none;
        const OperationScope again;
        outcome_of(law_, failing.c, options_.subject);
        if (std::string there = again.failing_kernel(failing.outcome.checks); !there.empty()) kernel = std::move(there);
      }
      if (watchdog_) watchdog_->stop();
    }
    found_.reset();
    CaseRecord& record = result_.cases.emplace_back(record_of(failing.c, law_, failing.outcome));
    record.seed = plan.seed;
    record.kernel = std::move(kernel);
    if (!smaller) record.operations = std::move(operations);  // of this very case: the gate compares them
    if (!first) return;
    keep_failing(failing.c, record);
    result_.failing = std::move(failing.c);
  }

  /// Whether the process lived, and a step of a user's own left its traces.
  bool try_control(const Case& c) {
    if (!controls_.wanted()) return true;
    if (!step()) return false;
    failed_control_ = controls_.try_on(c);
    result_.control_differs = controls_.differed();
    return !failed_control_;
  }

  /// Where that cannot be the case is on record all the same.
  void keep_failing(const Case& c, CaseRecord& record) {
    if (options_.corpus.empty()) return;
    try {
      const auto file = keep(options_.corpus, law_.name, record.id, c);
      if (record.token.empty()) record.token = (options_.corpus.filename() / file.filename()).string();
    } catch (const std::exception& problem) {
      std::cerr << "not kept for later runs: " << problem.what() << "\n";
    }
  }

  const Law& law_;
  Dtype storage_;
  const CampaignOptions& options_;
  const Abandon& abandon_;
  const Died died_;
  std::uint64_t step_ = 0;  // of the last run of a case, control or shrinking
  bool ended_ = false;      // at the step that the process died of
  TaskResult result_;
  Coverage coverage_;
  const Case* watched_ = nullptr;
  ControlTrials controls_;
  std::optional<Outcome> failed_control_;  // of a step of a user's own
  std::optional<CaseRecord> found_;        // the failure that is being made smaller, as it was found
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::optional<Watchdog> watchdog_;  // the last member: it ends before what its thread reads
};

}  // namespace

TaskResult run_law_task(const Law& law, Dtype storage, const CampaignOptions& options, const Abandon& abandon,
                        Died died) {
  return LawTask(law, storage, options, abandon, died).run();
}

}  // namespace tally
