// From a failing plan to the smallest and roundest case that fails in the same way, its schedule of threads written
// down.
#include "properties/campaign/shrink.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>

#include "kernels/device/executor/schedule.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/generators/simpler_plans.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/law.hpp"

namespace tally {
namespace {

/// The case's schedule as a list.
std::vector<Preemption> choices_of(const Case& c, const RunOptions& subject, ExecutorKind executor) {
  std::vector<Preemption> choices = c.execution.preemptions;
  if (c.execution.schedule == 0) return choices;
  RunOptions recording = subject;
  recording.executor = executor;
  recording.recorded = &choices;
  run(c, recording);
  return choices;
}

}  // namespace

void with_listed_schedule(const Case& c, const RunOptions& subject, int attempts,
                          const std::function<bool(const Case&)>& fails_alike) {
  const auto under = [&](const std::vector<Preemption>& some) {
    Case listed = c;
    listed.execution.schedule = 0;
    listed.execution.preemptions = some;
    return fails_alike(listed);
  };
  for (const ExecutorKind executor : executors_built()) {  // a law may have run it on another one than the subject's
    if (executor == ExecutorKind::cuda) continue;
    const std::vector<Preemption> choices = choices_of(c, subject, executor);
    if (choices.empty() || !under(choices)) continue;
    tally::executor::fewest_preemptions(choices, attempts, under);
    return;
  }
}

namespace {

constexpr int plan_attempts = 600, value_attempts = 1500, schedule_attempts = 300;

/// Sections of the recipe and the loss that do more than the plainest does.
std::int64_t frills_of(const Case& c) {
  const Recipe& recipe = c.recipe;
  std::int64_t count = (c.model.loss.kind != kinds::mse) + c.execution.recompute + !c.execution.recomputed.empty();
  count += (c.execution.order != 0) + (c.execution.schedule != 0 || !c.execution.preemptions.empty());
  count += static_cast<std::int64_t>(c.execution.kernels.size());
  const Precision& precision = c.precision;
  count += (precision.accumulate != Dtype::fp32) + (precision.master != Dtype::fp32);
  count += (precision.compute != Dtype::fp32) + precision.tf32;
  count += (recipe.optimizer.kind != kinds::sgd) + (recipe.learning_rate.kind != kinds::constant);
  for (const Choice* section : {&recipe.weight_decay, &recipe.clip, &recipe.loss_scale})
    count += section->kind != kinds::none;
  return count;
}

/// What a person minds first comes first: layers, micro-batches, frills, features, rows; then the text.
using Size = std::array<std::int64_t, 6>;
Size size_of(const Case& c) {
  Size size{};
  size[0] = static_cast<std::int64_t>(c.model.layers.size());
  for (const auto& window : c.windows) {
    size[1] += static_cast<std::int64_t>(window.size());
    for (const std::int64_t rows : window) size[4] += rows;
  }
  size[2] = frills_of(c);
  size[3] = c.model.input;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) size[3] += features_after(c.model, i);
  size[5] = static_cast<std::int64_t>(write_case(c).size());
  return size;
}

class Shrinker {
 public:
  Shrinker(const Law& law, const Plan& plan, const Outcome& failing, const RunOptions& subject,
           std::uint64_t elements_at_most, const std::atomic<bool>* interrupted)
      : law_(law),
        subject_(subject),
        signature_(signature_of(failing)),
        elements_at_most_(elements_at_most),
        interrupted_(interrupted),
        plan_(plan) {
    best_ = {case_of(plan), failing, 0};
  }

  ShrunkCase run() {
    while (best_.attempts < plan_attempts && !spent() && smaller_plan(true)) {
    }
    const bool in_one_stage = signature_.lens == "local" || signature_.stage == "kernel";
    while (in_one_stage && law_.judges_any_case && best_.attempts < 2 * plan_attempts && !spent() &&
           smaller_plan(false)) {
    }
    with_listed_schedule(Case(best_.c), subject_, schedule_attempts, [this](const Case& c) { return fails_alike(c); });
    const bool by_values = signature_.lens == "local" || subject_.stages != nullptr;
    if (by_values && signature_.stage != "process") {
      with_rounder_values(best_.c, value_attempts, [this](const Case& c) { return fails_alike(c); });
    }
    return std::move(best_);
  }

 private:
  /// Takes one step to a smaller plan, inside the law's shape or not; false when none fails alike.
  bool smaller_plan(bool shaped) {
    for (Plan& plan : simpler_plans(plan_)) {
      if (best_.attempts >= (shaped ? 1 : 2) * plan_attempts || spent()) return false;
      if (shaped && law_.shape) law_.shape(plan);
      Case c;
      try {
        c = case_of(plan);
      } catch (const std::logic_error&) {
        continue;  // too small to be a case at all
      }
      if (c == best_.c || !is_smaller(c) || !fails_alike(c)) continue;
      plan_ = std::move(plan);
      return true;
    }
    return false;
  }

  /// A law's shape may give back what a step took away: without this the search would go in circles.
  bool is_smaller(const Case& c) const { return size_of(c) < size_of(best_.c); }

  bool spent() const { return waited_ || elements_ > elements_at_most_ || (interrupted_ && *interrupted_); }

  bool fails_alike(const Case& c) {
    if (spent()) return false;
    ++best_.attempts;
    for (const auto& [name, tensor] : c.tensors) elements_ += tensor.elements();
    if (!fails_at_the_same_place(c)) return false;
    Outcome outcome = outcome_of(law_, c, subject_);
    note_wait(outcome);
    if (!is_alike(signature_of(outcome), signature_)) return false;
    if (signature_.lens != "local" && subject_.stages != nullptr && !shipped_stages_pass(c)) return false;
    best_.c = c;
    best_.outcome = std::move(outcome);
    return true;
  }

  /// Suspects left aside: finding them takes longer than the run.
  bool fails_at_the_same_place(const Case& c) {
    const NoDiagnosis none;
    FailureSignature before = signature_;
    before.suspects.clear();
    const Outcome outcome = outcome_of(law_, c, subject_);
    note_wait(outcome);
    return is_alike(signature_of(outcome), before);
  }

  /// A step of a user's own that is too slow for one case is not waited for in another.
  void note_wait(const Outcome& outcome) { waited_ |= own_step(subject_) != nullptr && took_all_its_time(outcome); }

  bool shipped_stages_pass(const Case& c) const {
    RunOptions shipped = subject_;
    shipped.stages = nullptr;
    const Status status = outcome_of(law_, c, shipped).status;
    return status == Status::pass || status == Status::vacuous;
  }

  const Law& law_;
  const RunOptions& subject_;
  const FailureSignature signature_;
  const std::uint64_t elements_at_most_;
  const std::atomic<bool>* const interrupted_;
  Plan plan_;
  ShrunkCase best_;
  std::uint64_t elements_ = 0;
  bool waited_ = false;
};

}  // namespace

FailureSignature signature_of(const Outcome& outcome) {
  FailureSignature signature;
  signature.status = outcome.status;
  if (outcome.status == Status::error)
    signature.stage = outcome.message.substr(0, outcome.message.find_first_of("0123456789"));
  if (outcome.status != Status::fail) return signature;
  if (const TensorCheck* failure = first_failure(outcome.checks)) {
    signature.failure = failure->failure;
    signature.lens = failure->lens;
    signature.stage = failure->stage;
    signature.expected_is_zero = failure->expected == 0;
    signature.got_is_zero = failure->got == 0;
    signature.got_is_finite = std::isfinite(failure->got);
  }
  for (const Suspicion& s : outcome.suspects) {
    const Suspicion& first = outcome.suspects.front();
    if (s.share == first.share && s.parameters == first.parameters) signature.suspects.push_back(s.name);
  }
  return signature;
}

bool is_alike(const FailureSignature& now, const FailureSignature& before) {
  const auto of = [](const FailureSignature& s) {
    return std::tie(s.status, s.failure, s.lens, s.stage, s.expected_is_zero, s.got_is_zero, s.got_is_finite);
  };
  if (of(now) != of(before) || now.suspects.empty() != before.suspects.empty()) return false;
  if (!now.suspects.empty() && now.suspects.front() != before.suspects.front()) return false;
  return std::all_of(now.suspects.begin(), now.suspects.end(), [&](const std::string& name) {
    return std::find(before.suspects.begin(), before.suspects.end(), name) != before.suspects.end();
  });
}

ShrunkCase shrunk(const Law& law, const Plan& plan, const Outcome& failing, const RunOptions& subject,
                  std::uint64_t elements_at_most, const std::atomic<bool>* interrupted) {
  return Shrinker(law, plan, failing, subject, elements_at_most, interrupted).run();
}

}  // namespace tally
