// One law in one precision: the unit of work a campaign hands out, with its plans, its control, and what is said of a
// case that its process died of. Defined in law_task.cpp, law_plan.cpp, outcome_of.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/training_step/run/own_step.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/campaign/campaign.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/generators/plan.hpp"
#include "properties/generators/simpler_plans.hpp"
#include "properties/laws/law.hpp"
#include "reports/record/record.hpp"

namespace tally {

// The plans of one task, in order. Most are drawn afresh; one in four is bred from an earlier one that showed much: new
// pairs of triggers, or an error near its bound. A function of seed and rewards alone. Plans drawn afresh have seeds
// that follow one another: a law's shape that chooses by `seed % n` meets all its choices.

/// Where the seeds of the plans of a job begin, whatever its number of plans.
inline std::uint64_t first_plan_seed(std::uint64_t seed) { return seed % (std::uint64_t{1} << 20); }

/// A plan with some sections (layers, loss, cut, recipe, values, …) taken from another.
Plan bred(Plan parent, const Plan& other, std::uint64_t seed);

class PlanSource {
 public:
  /// Shapes grow from small to full over `cases` plans, or over the first 40 of more.
  PlanSource(Dtype storage, std::uint64_t seed, int cases);
  /// The same with plans whose seeds follow `first`, as of a strand that is not its job's first.
  PlanSource(Dtype storage, std::uint64_t seed, int cases, std::uint64_t first);

  Plan next();
  /// Plans drawn afresh alone, with these seeds, one after the other and again from the first.
  void number(std::vector<std::uint64_t> seeds);
  /// How much the plan that next() gave showed: 0 for nothing.
  void reward(double score);

 private:
  struct Parent {
    double score;
    Plan plan;
  };
  Plan drawn(std::uint64_t seed) const;

  Dtype storage_;
  std::uint64_t seed_, first_;
  int cases_, number_ = 0;
  Plan last_;
  std::vector<std::uint64_t> seeds_;  // of the plans; empty: those that follow first_
  std::vector<Parent> parents_;       // the best few, best first
};

// The plans that a campaign draws for one law: a plan as it comes from its source, with the draws that every campaign
// adds, narrowed to the law's domain.

/// Another seed for each law and precision, from one for all.
std::uint64_t seed_of(std::uint64_t seed, const Law& law, Dtype storage);

/// How many cases of a law a campaign of this effort draws in each precision: 40 at effort 1 and weight 1, at least one.
int cases_drawn(const Law& law, double effort);

/// With options, formats and ways to execute drawn by the plan's seed, values of any bits where the law holds for
/// them; in the law's domain.
Plan shaped(Plan plan, const Law& law);
/// The same for a step of a user's own: without kernels, orders and schedules of Tally's, and so plain.
Plan shaped_for_own_step(Plan plan, const Law& law, const Plainness& plain);

/// `doing` is what ran: "it", "its control". Wrong, unless somebody else ended the process: that is an error.
Outcome outcome_of_death(const Death& death, const std::string& doing);

/// The record of a process that died before there was a case: an error that blames none.
CaseRecord undrawn_case(const Law& law, Dtype storage, const Death& death);

/// The outcome of a user's own step that left no trace: an error where it was too slow, or ended by somebody else.
Outcome outcome_of_failed_step(const StepFailed& failed);

/// The outcome of a case that took longer than so many seconds; and what is added to a failure that was not made
/// smaller, as that took longer than `times` of these limits.
Outcome outcome_of_slow_case(double seconds);
std::string not_made_smaller(double times, double seconds);

/// Whether such a step took its whole time, which another try would take again.
bool took_all_its_time(const Outcome& outcome);

// The control of one law, tried on its cases until it has differed.

class ControlTrials {
 public:
  ControlTrials(const Law& law, const RunOptions& subject) : law_(law), subject_(subject) {}

  /// Whether there is one that has not differed yet, and was not tried too often.
  bool wanted() const;
  /// What failed where a step of a user's own left no trace of it; nothing otherwise. A control that cannot run on this
  /// case may on the next one.
  std::optional<Outcome> try_on(const Case& c);
  bool differed() const { return differed_; }
  /// A step of a user's own declined every one: nothing shows that the law could have failed.
  bool all_declined() const { return declined_ > 0 && run_ == 0; }

 private:
  const Law& law_;
  const RunOptions subject_;
  bool differed_ = false;
  int tried_ = 0, run_ = 0, declined_ = 0;
};

/// What a task found; merged by the campaign.
struct TaskResult {
  std::vector<CaseRecord> cases;
  bool control_differs = false;
  std::vector<TriggerRecord> triggers;  // of the drawn cases
  CertifiedRecord certified;            // of the drawn cases
  std::optional<Case> failing;          // the first of the drawn cases that failed
};

/// Takes what was found before a case that does not end, its error last; must not return. Called in another thread.
using Abandon = std::function<void(const TaskResult&)>;

/// The process of this very task died before; nullptr: it did not, as far as anybody knows.
using Died = const Death*;

/// Replays the corpus' cases of this law and precision, then draws new ones; the first failing one is shrunk, kept, and
/// ends the task, unless the options say to keep going: then the others that fail are on record as drawn. With
/// `abandon`, a case that takes longer than the options allow ends it as an error. With `died`, the task ends at that
/// death's step, with the case that the process died of as its failing one, whatever the time.
TaskResult run_law_task(const Law& law, Dtype storage, const CampaignOptions& options, const Abandon& abandon = {},
                        Died died = nullptr);

/// Runs one case under a law. An executor finding or any other exception becomes an `error` outcome with its text.
Outcome outcome_of(const Law& law, const Case& c, const RunOptions& subject);

}  // namespace tally
