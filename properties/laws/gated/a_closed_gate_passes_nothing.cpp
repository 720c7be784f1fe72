// Law: a closed gate passes nothing. Where every gate is 0 a gated layer leaves exactly 0, and gives exactly 0 to what
// it would have let through; the gates themselves have a gradient.
#include <algorithm>

#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::a_closed_gate_passes_nothing_law {
namespace {

/// SwiGLU in two plans of four, else GEGLU by erf or by tanh.
const char* activation_of(const Plan& plan) {
  const std::uint64_t turn = plan.seed / 4 % 4;
  return turn == 0 ? "gelu" : turn == 1 ? "gelu_tanh" : "silu";
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
