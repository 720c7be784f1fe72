// Laws of what stands still or passes nothing on, and of what trains beside it: frozen parameters and norms, closed
// gates.
#include <algorithm>

#include "oracle/exact/answer.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/drawn_options.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/judge.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: what is frozen keeps its bits. A frozen parameter is cast from the same bits in every window, and leaves no
// gradient, buffer or state; and no number of the first window depends on whether its gradient was computed.
namespace tally::frozen_keeps_its_bits_law {
namespace {

void shape(Plan& plan) {
  if (plan.seed % 3 == 1) attend(plan);
  add_adapters(plan);
  at_least_windows(plan, 2);
  if (plan.seed % 3 == 0) plan.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{"0.03"}}});
  plan.execution.order = 0;  // a product's order may depend on how many came before it
}

Case thawed(Case c) {
  for (Layer& l : c.model.layers) l.trainable = true;
  return c;
}

std::vector<std::string> frozen_of(const Model& model) {
  std::vector<std::string> frozen = weights_of(model);
  const std::vector<std::string> trained = parameters_of(model);
  std::erase_if(frozen, [&](const std::string& name) { return std::ranges::count(trained, name) > 0; });
  return frozen;
}

void require_still(Outcome& outcome, const Case& c, const Trace& trace, const std::string& parameter) {
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string tap = "w" + std::to_string(w) + "/cast/in." + parameter;
    const Tensor* got = trace.find(tap);
    require(outcome, got != nullptr && got->bytes == c.tensors.at(parameter).bytes, tap, "cast",
            "a frozen parameter is not what the case says");
  }
  const std::string read = "in." + parameter, left = "." + parameter;
  const auto found = std::ranges::find_if(trace.taps(), [&](const Tap& tap) {
    return tap.name.stage != "cast" && tap.name.tensor != read && tap.name.tensor.ends_with(left);
  });
  const bool still = found == trace.taps().end();
  require(outcome, still, still ? parameter : found->name.text(), still ? "cast" : found->name.stage,
          "a frozen parameter has a gradient, a buffer or state");
}

/// Up to where all gradients meet.
bool is_before_the_step(const TapName& name) {
  return name.window == 0 && (name.stage == "forward" || name.stage == "loss" || name.stage == "backward" ||
                              name.stage == "fork" || name.stage == "accumulate");
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const std::vector<std::string> frozen = frozen_of(c.model);
  if (frozen.empty()) return not_for("a model with a frozen layer");
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  for (const std::string& parameter : frozen) require_still(straight.outcome, c, straight.trace, parameter);
  const CheckedRun other = run_and_check(thawed(c), subject);
  add(straight.outcome, other.outcome);
  const PromisedBits promised(straight.trace), promised_thawed(other.trace);
  for (const Tap& tap : straight.trace.taps()) {
    if (!is_before_the_step(tap.name) || !promised.of(tap.name) || !promised_thawed.of(tap.name)) continue;
    const Tensor* got = other.trace.find(tap.name.view());
    require(straight.outcome, got != nullptr && *got == tap.value, tap.name.text(), tap.name.stage,
            "whether a frozen parameter's gradient is computed changed another number");
  }
  return settled(std::move(straight.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(thawed(c), subject), {"cast", "accumulate"});
}

const RegisterLaw registered{{
    .name = "frozen_keeps_its_bits",
    .family = "adapters",
    .statement = "A frozen parameter keeps its bits, and nothing else depends on its gradient.",
    .shape = shape,
    .holds = holds,
    .control = "trained, it has a buffer and moves",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::frozen_keeps_its_bits_law

// Law: recomputation keeps adapters training. Behind layers that stand still the forward pass runs again for backward,
// although what enters there needs no gradient: every gradient keeps its bits, and none is lost.
namespace tally::recomputation_keeps_adapters_training_law {
namespace {

void shape(Plan& plan) {
  add_adapters(plan);
  plan.execution.recompute = true;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (adapted_layers(c.model).empty()) return not_for("a frozen layer that has an adapter");
  CheckedRun again = run_and_check(c, subject);
  if (again.outcome.status == Status::not_run) return again.outcome;
  require_equal_bits(again.outcome, run(without_recomputation(c), subject), again.trace,
                     {"backward", "fork", "accumulate", "optimizer"},
                     "running the forward pass again changed an adapter's gradient");
  return settled(std::move(again.outcome));
}

/// Another input has other gradients.
bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"backward"});
}

const RegisterLaw registered{{
    .name = "recomputation_keeps_adapters_training",
    .family = "adapters",
    .statement = "Behind frozen layers, running the forward pass again loses no adapter's gradient.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::recomputation_keeps_adapters_training_law

// Law: a frozen BatchNorm normalises by its running values, never moves them, and leaves no gap to the full batch.
namespace tally::frozen_batch_norm_stays_law {
namespace {

void shape(Plan& plan) {
  with_batch_norm(plan, "frozen");
  plan.normalisation = Normalisation::window_items;
  at_least_micro_batches(plan, 2);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  for (const Tap& tap : judged.trace.taps()) {
    require(judged.outcome, tap.name.stage != "running_stats", "running_stats", "running_stats",
            tap.name.text() + " was written, though the statistics are frozen");
  }
  judged.outcome.semantic_gap = oracle::first_gradient_gap(c);
  require(judged.outcome, judged.outcome.semantic_gap == 0, "w0/semantic_gap", "forward",
          "frozen statistics leave a gap to the full batch");
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case moving = c;
  for (Layer& l : moving.model.layers) {
    if (l.kind == "batch_norm") l.options["statistics"] = std::string("window");
  }
  return bits_differ(run(c, subject), run(moving, subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "frozen_batch_norm_stays",
    .family = "BatchNorm",
    .statement = "A frozen BatchNorm reads its running values, never moves them, and leaves no gap.",
    .shape = shape,
    .holds = holds,
    .control = "statistics of the window give other activations",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::frozen_batch_norm_stays_law

// Law: a closed gate passes nothing. Where every gate is 0 a gated layer leaves exactly 0, and gives exactly 0 to what
// it would have let through; the gates themselves have a gradient.
namespace tally::a_closed_gate_passes_nothing_law {
namespace {

/// SwiGLU, the first, in two of as many plans and one more.
const std::string& activation_of(const Plan& plan) {
  const std::vector<std::string>& words = gate_activations();
  const std::uint64_t turn = plan.seed / 4 % (words.size() + 1) + 1;
  return words[turn < words.size() ? turn : 0];
}

/// One block, and its kernels in turn.
void shape(Plan& plan) {
  const std::int64_t width = 1 + static_cast<std::int64_t>(plan.seed % 7);
  const auto linear = [&](const char* name, bool bias) {
    Layer made = layer("linear", name, {{"out", width}, {"bias", bias}});
    made.inputs = {"input"};
    return made;
  };
  const std::string activation = activation_of(plan);
  Layer gated = layer("gated", "glu", {{"activation", activation}});
  gated.inputs = {"gate", "up"};
  plan.hidden = {linear("gate", plan.seed % 2 == 0), linear("up", plan.seed % 3 == 0), gated};
  plan.values.clear();
  plan.gradient_magnitude = 1;
  const std::string variant = plan.seed % 4 < 2 ? "fused" : "two_step";
  const std::string family = "gated_" + activation;
  plan.execution.kernels[family + ".forward"] = plan.execution.kernels[family + ".backward"] = variant;
}

const Layer* gated_of(const Model& model) {
  const auto found = std::ranges::find(model.layers, std::string("gated"), &Layer::kind);
  return found == model.layers.end() ? nullptr : &*found;
}

/// The linear layer that the gates come from, its weights 0.
Case with_closed_gates(Case c) {
  const std::string gate = gated_of(c.model)->inputs.front();
  for (const char* tensor : {".weight", ".bias"})
    if (const auto found = c.tensors.find(gate + tensor); found != c.tensors.end())
      found->second = Tensor(found->second.dtype, found->second.shape);
  return c;
}

bool is_zero(const Tensor* tensor) {
  for (std::size_t i = 0; tensor != nullptr && i < tensor->elements(); ++i)
    if (tensor->value(i) != 0) return false;
  return tensor != nullptr;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const Layer* gated = gated_of(c.model);
  if (gated == nullptr || gated->name.empty() || !c.tensors.contains(gated->inputs.front() + ".weight"))
    return not_for("a gated layer with a name, whose gates are a linear layer's");
  CheckedRun open = run_and_check(c, subject);
  if (open.outcome.status == Status::not_run) return open.outcome;
  CheckedRun closed = run_and_check(with_closed_gates(c), subject);
  add(open.outcome, closed.outcome);
  for (std::size_t k = 0; k < c.windows.front().size(); ++k) {
    const std::string at = "w0/m" + std::to_string(k) + "/";
    const std::string y = at + "forward/" + gated->name + ".y", up = at + "backward/d." + gated->name + ".up";
    require(open.outcome, is_zero(closed.trace.find(y)), y, "forward", "a gate of 0 let something through");
    require(open.outcome, is_zero(closed.trace.find(up)), up, "backward",
            "a gate of 0 gave a gradient to what it shuts out");
  }
  return settled(std::move(open.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_closed_gates(c), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "a_closed_gate_passes_nothing",
    .family = "gated",
    .statement = "Where every gate is 0 a gated layer leaves exactly 0, and gives 0 to what it would let through.",
    .shape = shape,
    .holds = holds,
    .control = "with the gates open the output is another",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::a_closed_gate_passes_nothing_law
