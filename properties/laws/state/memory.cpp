// Laws of what a window holds: memory follows the micro-batch, state does not follow K.
#include <algorithm>

#include "kernels/training_step/run/cost.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "oracle/case/contract.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: a window takes no more memory than its largest micro-batch alone, the batch's data apart; optimizer state,
// buffers and parameters do not depend on K. With `window` statistics all micro-batches stay alive, so those are left
// out.
namespace tally::memory_follows_the_micro_batch_law {
namespace {

void shape(Plan& plan) {
  for (Layer& l : plan.hidden) {
    if (l.kind != "batch_norm") continue;
    l.options["statistics"] = std::string("micro_batch");
    for (auto& window : plan.windows) {
      for (auto& rows : window) rows = std::max<std::int64_t>(rows, 2);
    }
  }
  at_least_micro_batches(plan, 2);
}

/// The same training on the largest micro-batch and nothing else.
Case largest_micro_batch_alone(const Case& c) {
  std::int64_t first = 0, count = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    for (std::size_t k = 0; k < c.windows[w].size(); ++k) {
      if (c.windows[w][k] <= count) continue;
      count = c.windows[w][k];
      first = first_row(c, w, k);
    }
  }
  Case alone = c;
  alone.windows = {{count}};
  for (auto& [name, tensor] : alone.tensors) {
    const bool by_row = has_rows(name);
    if (by_row) tensor = rows_of(tensor, first, count);
  }
  return alone;
}

/// The stage that takes this kind of memory.
const char* stage_of(const std::string& kind) {
  if (kind == "activations") return "forward";
  if (kind == "gradients") return "accumulate";
  return kind == "storage copies" ? "cast" : "optimizer";
}

Outcome holds(const Case& c, const RunOptions& subject) {
  Outcome outcome;
  try {
    require_tallys_kernels(subject, "the memory of each buffer");
    const MemoryUse window = memory_of(c, subject), alone = memory_of(largest_micro_batch_alone(c), subject);
    require(outcome, window.of("unknown") == 0, "bytes of no kind", "forward",
            std::to_string(window.of("unknown")) + " bytes are of no kind that a window may take; expected 0");
    for (const auto& [kind, bytes] : window.kinds) {
      if (kind == "data") continue;
      require(outcome, bytes == alone.of(kind), "peak bytes of " + kind, stage_of(kind),
              kind + " took " + std::to_string(bytes) + " bytes at most, the largest micro-batch alone " +
                  std::to_string(alone.of(kind)));
    }
  } catch (const NotSupported& reason) {
    outcome.status = Status::not_run;
    outcome.message = reason.what();
    return outcome;
  }
  return settled(std::move(outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case whole = c;
  for (auto& window : whole.windows) {
    std::int64_t rows = 0;
    for (const std::int64_t each : window) rows += each;
    window = {rows};
  }
  return memory_of(c, subject).of("activations") < memory_of(whole, subject).of("activations");
}

const RegisterLaw registered{{
    .name = "memory_follows_the_micro_batch",
    .family = "state",
    .statement = "Peak memory, the batch's data apart, is that of the largest micro-batch alone, whatever K.",
    .shape = shape,
    .holds = holds,
    .control = "each window in one micro-batch takes more memory for activations",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::memory_follows_the_micro_batch_law

// Law: moments, momentum and step count do not depend on K. On exact data, where equal means equal bits, a window in
// one micro-batch leaves the same state as the same window in many.
//   v(Σ_k s_k) = v(s): the optimizer sees the sum alone
namespace tally::optimizer_state_ignores_k_law {
namespace {

void shape(Plan& plan) {
  exact_arithmetic(plan);
  plan.windows.push_back(plan.windows.front());
  if (plan.seed % 2 != 0) plan.recipe.optimizer = choice("optimizer", "adam");
  if (plan.seed % 2 == 0) plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", Decimal{"0.5"}}});
  plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0"}}});
}

/// A 16-bit gradient of all rows at once may round where its parts do not.
bool same_sums(const Trace& a, const Trace& b) { return !bits_differ(a, b, {"unscale"}); }

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun cut = run_and_check(c, subject);
  if (cut.outcome.status == Status::not_run) return cut.outcome;
  const CheckedRun whole = run_and_check(full_batch_of(c), subject);
  add(cut.outcome, whole.outcome);
  const bool same = c.precision.storage == Dtype::fp32 || same_sums(whole.trace, cut.trace);
  if (same) {
    require_equal_bits(cut.outcome, whole.trace, cut.trace, {"unscale", "optimizer", "schedule"},
                       "the state after the window depends on how it was cut");
  }
  Outcome outcome = settled(std::move(cut.outcome));
  return !same ? vacuous(std::move(outcome), "the gradient of all rows at once rounds in 16 bits") : outcome;
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(full_batch_of(with_other_input(c)), subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "optimizer_state_ignores_k",
    .family = "state",
    .statement = "Optimizer state does not depend on the number of micro-batches.",
    .shape = shape,
    .holds = holds,
    .control = "another row of x leaves another state",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::optimizer_state_ignores_k_law

// Law: running the forward pass again for the backward pass changes no bit of the gradient: masks, statistics and
// products repeat, of all layers and of some alone.
namespace tally::recomputation_changes_nothing_law {
namespace {

void shape(Plan& plan) {
  if (plan.seed % 4 == 1) {
    attend(plan);
    for (Layer& l : plan.hidden)
      if (l.kind == "attention") l.options["p"] = Decimal{"0.5"};
  }
  plan.execution.recompute = true;
  plan.recomputes_some = plan.seed % 3 != 0;
  if (plan.seed % 2 != 0) return;
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{6}}}), layer("relu"),
                 layer("dropout", "drop1", {{"p", Decimal{"0.5"}}}), layer("linear", "fc2", {{"out", std::int64_t{4}}}),
                 layer("tanh")};
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun again = run_and_check(c, subject);
  if (again.outcome.status == Status::not_run) return again.outcome;
  require_equal_bits(again.outcome, run(without_recomputation(c), subject), again.trace,
                     {"backward", "fork", "running_stats", "unscale", "optimizer"},
                     "running the forward pass again changed the result");
  return settled(std::move(again.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(without_recomputation(with_other_input(c)), subject), {"backward"});
}

const RegisterLaw registered{{
    .name = "recomputation_changes_nothing",
    .family = "state",
    .statement = "Running the forward pass again for the backward pass changes no bit.",
    .shape = shape,
    .holds = holds,
    .control = "another input without recomputation gives other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::recomputation_changes_nothing_law
