// Laws of a partition: it equals the full batch, one micro-batch equals none, and their order does not matter.
#include <numeric>

#include "kernels/training_step/run/own_step.hpp"
#include "oracle/exact/trajectory.hpp"
#include "properties/generators/ordinary/ordinary_plan.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/judge.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: for recipes that divide by the window's items, accumulated micro-batches give the full batch's update, however
// the batch is cut.   Σ_k s_k / N does not depend on the cut. Vacuous where the propagated bound exceeds the gradient;
// the local lens then still certifies both runs.
namespace tally::partition_equals_full_batch_law {
namespace {

void shape(Plan& plan) {
  plan.normalisation = Normalisation::window_items;
  no_micro_batch_statistics(plan);
  at_least_micro_batches(plan, 2);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome =
      against_full_batch(c, subject, "the exact accumulated gradient is not the exact full-batch gradient");
  if (outcome.status == Status::not_run) return outcome;
  outcome = settled(std::move(outcome));
  return full_batch_of(c).windows == c.windows
             ? vacuous(std::move(outcome), "every window is one micro-batch: nothing is cut")
             : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  other.normalisation = Normalisation::mean_of_means;
  return bits_differ(run(c, subject), run(other, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "partition_equals_full_batch",
    .family = "equivalence",
    .statement = "Accumulated micro-batches give the full batch's update, however the batch is cut.",
    .shape = shape,
    .holds = holds,
    .control = "mean_of_means on the same cut gives other gradients",
    .differs = differs,
    .weight = 1.5,
}};

}  // namespace
}  // namespace tally::partition_equals_full_batch_law

// Law: on dyadic data, for which every product and every sum is exact in any order, the kernels leave the exact bits:
// tolerance zero, under every order of additions and every schedule.
namespace tally::exact_lane_law {
namespace {

/// The exact value in the tapped tensor's format; representable, or the case is not exact and `exact` turns false.
Tensor rounded(const oracle::Matrix<long double>& value, const Tensor& like, bool& exact) {
  Tensor tensor(like.dtype, like.shape);
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    const auto v = static_cast<double>(value.data()[i]);
    tensor.set(i, v);
    exact = exact && tensor.value(i) == v;
  }
  return tensor;
}

void require_exact(Outcome& outcome, const Trace& trace, const oracle::WindowAnswer<long double>& answer) {
  bool exact = true;
  for (const auto& [parameter, gradient] : answer.grad) {
    for (const std::string stage : {"unscale", "optimizer"}) {
      const std::string name = "w0/" + stage + (stage == "unscale" ? "/d." : "/") + parameter;
      const Tensor* got = trace.find(name);
      if (!got) {
        require(outcome, false, name, stage, name + " was not tapped");
        continue;
      }
      const auto& value = stage == "unscale" ? gradient : answer.after.slots.at(parameter).parameter;
      add(outcome, bitwise_check(name, stage, rounded(value, *got, exact), *got));
    }
  }
  require(outcome, exact, "w0/exact", "unscale", "the case is not exact: a value does not fit its format");
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const auto state = oracle::initial_state<long double>(c);
  const auto answer = oracle::evaluate_window<long double>(c, 0, oracle::Branch::accumulated, state);
  CheckedRun first = run_and_check(c, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  require_exact(first.outcome, first.trace, answer);
  const std::uint64_t orders = own_step(subject) == nullptr ? 3 : 0;  // another step has its own
  for (std::uint64_t seed = 1; seed <= orders; ++seed) {
    RunOptions other = subject;
    other.order_seed = other.schedule_seed = seed;
    require_exact(first.outcome, run(c, other), answer);
  }
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "exact_lane",
    .family = "equivalence",
    .statement = "Where every sum is exact in any order, the kernels leave the exact bits.",
    .shape = exact_arithmetic,
    .holds = holds,
    .control = "one row of x changed gives other bits",
    .differs = differs,
    .weight = 2,
    .judges_any_case = true,
}};

}  // namespace
}  // namespace tally::exact_lane_law

// Law: with K = 1 the accumulating pipeline leaves the same bits as the same kernels with accumulation switched off
// (gradient written directly, no buffer).   0 + g = g, bit for bit, ±0 as one value.
namespace tally::one_micro_batch_equals_plain_law {
namespace {

void shape(Plan& plan) {
  usual_formats(plan);
  for (auto& window : plan.windows) window = {std::accumulate(window.begin(), window.end(), std::int64_t{0})};
  plan.empty_micro_batch = false;
  if (plan.precision.storage != Dtype::fp32)
    plan.execution.kernels.erase("linear.weight_gradient");  // into the buffer: never rounded to the storage format
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun accumulated = run_and_check(c, subject);
  if (accumulated.outcome.status == Status::not_run) return accumulated.outcome;
  RunOptions direct = subject;
  direct.accumulate = false;
  require_equal_bits(accumulated.outcome, run(c, direct), accumulated.trace,
                     {"unscale", "norm", "clip", "decay", "optimizer", "running_stats", "scaler", "schedule"},
                     "one micro-batch differs from no accumulation");
  return settled(std::move(accumulated.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  RunOptions direct = subject;
  direct.accumulate = false;
  return bits_differ(run(c, subject), run(with_other_input(c), direct), {"unscale"});
}

const RegisterLaw registered{{
    .name = "one_micro_batch_equals_plain",
    .family = "equivalence",
    .statement = "One micro-batch a window leaves the same bits as the same kernels without accumulation.",
    .shape = shape,
    .holds = holds,
    .control = "another input without accumulation gives other bits",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::one_micro_batch_equals_plain_law

// Law: the order of the micro-batches inside a window does not matter.   Σ_k s_k is a sum over a set.
// Drawn on exact data, where equal means equal bits; running statistics are exempt (later micro-batches weigh more).
namespace tally::permuted_micro_batches_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  const Case other = with_rotated_micro_batches(c);
  const CheckedRun rotated = run_and_check(other, subject);
  add(straight.outcome, rotated.outcome);
  require_equal_bits(straight.outcome, straight.trace, rotated.trace, {"unscale", "optimizer"},
                     "another order of the micro-batches changed the update");
  Outcome outcome = settled(std::move(straight.outcome));
  return other == c ? vacuous(std::move(outcome), "the micro-batches are identical: any order is the same") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "permuted_micro_batches",
    .family = "equivalence",
    .statement = "The order of the micro-batches inside a window does not change the update.",
    .shape = exact_arithmetic,
    .holds = holds,
    .control = "another row of x gives other bits",
    .differs = differs,
    .judges_any_case = true,
}};

}  // namespace
}  // namespace tally::permuted_micro_batches_law

// Law: networks of plain sizes, initial values, inputs and recipes pass, and a verdict is reached: none of them is
// refused as vacuous while it has a gradient. A verdict that is wrong on the first ordinary network is the last one
// that a user reads.
namespace tally::ordinary_networks_are_judged_law {
namespace {

/// Small ones, one in eight medium, and one in 24 with a weight of 10^5 elements or more.
void shape(Plan& plan) {
  const OrdinarySize size = plan.seed % 24 == 5  ? OrdinarySize::true_size
                            : plan.seed % 8 == 3 ? OrdinarySize::medium
                                                 : OrdinarySize::small;
  plan = ordinary_plan(plan.precision.storage, size, plan.seed);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  Outcome outcome = std::move(judged.outcome);
  const std::string refusal = refusal_of(outcome, judged.trace);
  if (refusal.empty()) return outcome;
  require(outcome, false, "verdict", "loss", "the case has gradients and is refused: " + refusal);
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  other.normalisation = Normalisation::sum;
  return bits_differ(run(c, subject), run(other, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "ordinary_networks_are_judged",
    .family = "ordinary",
    .statement = "Networks of plain sizes, initial values, inputs and recipes pass, and none is refused.",
    .shape = shape,
    .holds = holds,
    .control = "gradients that are summed, not averaged, are others",
    .differs = differs,
    .weight = 0.35,
    .judges_any_case = true,
}};

}  // namespace
}  // namespace tally::ordinary_networks_are_judged_law
