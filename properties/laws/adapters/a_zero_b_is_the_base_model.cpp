// Law: an adapter whose B is 0 is the base model. Its sum is what the frozen layer gave, and so the loss is the base
// model's; A's gradient is exactly 0. B is what trains first.
#include <cmath>

#include "properties/generators/adapters.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::a_zero_b_is_the_base_model_law {
namespace {

/// No number that is not finite: 0 times one is no 0.
void shape(Plan& plan) {
  add_adapters(plan);
  plan.values.clear();
  plan.gradient_magnitude = 1;
  plan.far_mean = false;
  plan.recipe.loss_scale = choice("loss_scale", "none");
}

Case with_zero_b(Case c) {
  for (const std::string& name : adapted_layers(c.model)) {
    Tensor& b = c.tensors.at(name + "_b.weight");
    b = Tensor(b.dtype, b.shape);
  }
  return c;
}

/// Every number of a tensor as a value: the sum makes a +0 of a -0.
bool same_values(const Tensor* a, const Tensor* b) {
  if (a == nullptr || b == nullptr || a->elements() != b->elements()) return false;
  for (std::size_t i = 0; i < a->elements(); ++i)
    if (!(a->value(i) == b->value(i))) return false;
  return true;
}

bool is_zero(const Tensor* tensor) {
  for (std::size_t i = 0; tensor != nullptr && i < tensor->elements(); ++i)
    if (tensor->value(i) != 0) return false;
  return tensor != nullptr;
}

bool is_finite(const Trace& trace, const std::string& at) {
  for (const Tap& tap : trace.taps())
    for (std::size_t i = 0; tap.name.text().starts_with(at) && i < tap.value.elements(); ++i)
      if (!std::isfinite(tap.value.value(i))) return false;
  return true;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const std::vector<std::string> adapted = adapted_layers(c.model);
  if (adapted.empty()) return not_for("a frozen layer with an adapter");
  CheckedRun straight = run_and_check(c, subject);
  if (straight.outcome.status == Status::not_run) return straight.outcome;
  const CheckedRun zero = run_and_check(with_zero_b(c), subject);
  add(straight.outcome, zero.outcome);
  for (std::size_t k = 0; k < c.windows.front().size(); ++k) {
    const std::string at = "w0/m" + std::to_string(k) + "/";
    if (!is_finite(zero.trace, at)) continue;
    for (const std::string& name : adapted) {
      const std::string sum = at + "forward/" + name + "_sum.y", a = at + "backward/d." + name + "_a.weight";
      require(straight.outcome, same_values(zero.trace.find(sum), zero.trace.find(at + "forward/" + name + ".y")), sum,
              "forward", "an adapter whose B is 0 changed what its layer gave");
      const Tensor* gradient = zero.trace.find(a);
      require(straight.outcome, gradient == nullptr || is_zero(gradient), a, "backward",
              "an adapter whose B is 0 has a gradient of A");
    }
  }
  return settled(std::move(straight.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_zero_b(c), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "a_zero_b_is_the_base_model",
    .family = "adapters",
    .statement = "An adapter whose B is 0 leaves what its frozen layer gave, and gives A exactly 0.",
    .shape = shape,
    .holds = holds,
    .control = "with another B the output is another",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::a_zero_b_is_the_base_model_law
