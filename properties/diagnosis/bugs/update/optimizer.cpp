// Bugs of cast and optimizer: what a step reads and keeps.
#include <algorithm>

#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/bug.hpp"

namespace tally::optimizer_bug {
namespace {

// The optimizer updates bf16 parameters.
namespace bf16_parameters {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "").empty() || held.dtype != Dtype::fp32) return std::nullopt;
  Values rounded = held.expected;
  for (double& p : rounded) p = rounded_to(Dtype::bf16, p);
  return rounded;
}

const RegisterBug registered{{
    .name = "update-lost-in-bf16",
    .stages = {"optimizer"},
    .sentence = "the optimizer updates bf16 parameters: updates below half an ulp of theirs are lost",
    .formula = "p = bf16(p - lr v)",
    .remedy = "step on fp32 parameters, and cast them to bf16 for the layers",
    .left = left,
}};

}  // namespace bf16_parameters

// The first step is dampened like all others.
namespace dampened_first_step {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& optimizer = evidence.c.recipe.optimizer;
  const std::string parameter = parameter_in(evidence, held, "momentum.");
  if (optimizer.kind != kinds::sgd || parameter.empty()) return std::nullopt;
  if (evidence.tap(held.name.window, -1, "optimizer", "in.momentum." + parameter)) return std::nullopt;
  const auto gradient = evidence.tap(held.name.window, -1, "optimizer", "in.d." + parameter);
  if (!gradient) return std::nullopt;
  return times(*gradient, 1 - optimizer.number("dampening").to_double());
}

const RegisterBug registered{{
    .name = "dampening-on-first-step",
    .stages = {"optimizer"},
    .sentence = "the first step is dampened, although it has no momentum buffer yet",
    .formula = "v = (1 - d) g at the first step",
    .remedy = "do not dampen the gradient in the first step, as `torch.optim.SGD` does not",
    .left = left,
}};

}  // namespace dampened_first_step

// The momentum is cleared before every step.
namespace momentum_cleared {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "in.momentum.").empty()) return std::nullopt;
  return Values(held.expected.size(), 0.0);
}

const RegisterBug registered{{
    .name = "momentum-reset-each-step",
    .stages = {"optimizer"},
    .sentence = "the momentum is cleared before every step",
    .formula = "m = 0",
    .remedy = "keep one optimizer for all windows: a new optimizer, or an emptied state, has no momentum",
    .left = left,
}};

}  // namespace momentum_cleared

// The coefficient of momentum stands at the gradient.
namespace momentum_on_the_gradient {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& optimizer = evidence.c.recipe.optimizer;
  const std::string parameter = parameter_in(evidence, held, "momentum.");
  if (optimizer.kind != kinds::sgd || parameter.empty()) return std::nullopt;
  auto momentum = evidence.tap(held.name.window, -1, "optimizer", "in.momentum." + parameter);
  const auto gradient = evidence.tap(held.name.window, -1, "optimizer", "in.d." + parameter);
  if (!momentum || !gradient) return std::nullopt;
  const double mu = optimizer.number("momentum").to_double();
  for (std::size_t i = 0; i < momentum->size(); ++i) (*momentum)[i] += mu * (*gradient)[i];
  return momentum;
}

const RegisterBug registered{{
    .name = "momentum-on-the-gradient",
    .stages = {"optimizer"},
    .sentence = "the momentum coefficient multiplies the gradient, not the momentum buffer",
    .formula = "v = v + μ g",
    .remedy = "multiply the momentum buffer by the coefficient: `v = mu * v + g`",
    .left = left,
}};

}  // namespace momentum_on_the_gradient

// The second shard of a parameter takes the gradients of the first.
namespace second_shard_from_the_first {

/// The parameter is that of the failing check.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "");
  if (parameter.empty() || held.name.tensor != tap_name_of(evidence.check.tap).tensor) return std::nullopt;
  const auto gradient = evidence.tap(held.name.window, -1, "optimizer", "in.d." + parameter);
  if (!gradient) return std::nullopt;
  const double rate = evidence.scalar(held.name.window, "schedule", "learning_rate", 0);
  Values p = held.expected;
  const std::size_t half = p.size() / 2;
  for (std::size_t i = half; i < p.size() && half > 0; ++i) p[i] -= rate * ((*gradient)[i - half] - (*gradient)[i]);
  return p;
}

const RegisterBug registered{{
    .name = "shard-offset-wrong",
    .stages = {"optimizer"},
    .sentence = "the second shard of one parameter is updated with the gradients of its first",
    .formula = "p_i = p_i - lr g_{i - n/2} for i >= n/2",
    .remedy = "start each shard's gradient at the shard's own offset",
    .left = left,
    .parameters = 1,
}};

}  // namespace second_shard_from_the_first

// A parameter whose gradient is zero is not updated.
namespace zero_gradient_skips {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "");
  if (parameter.empty()) return std::nullopt;
  const auto gradient = evidence.tap(held.name.window, -1, "optimizer", "in.d." + parameter);
  if (!gradient || std::any_of(gradient->begin(), gradient->end(), [](double g) { return g != 0; }))
    return std::nullopt;
  return evidence.tap(held.name.window, -1, "optimizer", "in." + parameter);
}

const RegisterBug registered{{
    .name = "zero-gradient-skipped",
    .stages = {"optimizer"},
    .sentence = "a parameter with a zero gradient is skipped: neither momentum nor weight decay updates it",
    .formula = "p = p where g = 0",
    .remedy = "update parameters with a zero gradient too: momentum and weight decay change them",
    .left = left,
}};

}  // namespace zero_gradient_skips

// The copy of the weights is that of the first window.
namespace stale_weights {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "");
  if (parameter.empty() || held.name.window == 0) return std::nullopt;
  return evidence.tap(0, -1, "cast", parameter);
}

const RegisterBug registered{{
    .name = "stale-weight-cast",
    .stages = {"cast"},
    .sentence = "the copy of the weights that the layers read is never updated",
    .formula = "w = the first window's copy",
    .remedy = "update the 16-bit copy of the weights after every step (autocast: leave its context between windows, or "
              "`cache_enabled=False`)",
    .left = left,
}};

}  // namespace stale_weights

}  // namespace
}  // namespace tally::optimizer_bug
