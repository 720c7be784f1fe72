// Bugs of loss: factors and terms at the wrong place.
#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/formulas.hpp"

namespace tally::loss_factors_bug {
namespace {

// The window's one factor depends on the items of the micro-batch.
namespace weighed_by_own_items {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const int window = held.name.window;
  const double items = evidence.items(window);
  if (items == 0) return std::nullopt;
  return times(held.expected, evidence.items(window, held.name.micro_batch) * evidence.micro_batches(window) / items);
}

const RegisterBug registered{{
    .name = "per-microbatch-weight",
    .stages = {"loss"},
    .sentence = "every micro-batch's sum is also weighted by its share of the items",
    .formula = "c = (S / N) (n_k K / N)",
    .remedy = "weight each micro-batch once: divide its sum by the window's {N} items, without its share of them",
    .left = left,
}};

}  // namespace weighed_by_own_items

// The loss is divided by K, its gradient is not.
namespace loss_gradient_times_k {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "d.y") return std::nullopt;
  return times(held.expected, evidence.micro_batches(held.name.window));
}

const RegisterBug registered{{
    .name = "scale-after-backward",
    .stages = {"loss"},
    .sentence = "the loss is divided after its gradient was taken: the gradient is K times too large",
    .formula = "dy = K c ∂l/∂y",
    .remedy = "divide the loss before `backward()`: `(loss / {K}).backward()`",
    .left = left,
}};

}  // namespace loss_gradient_times_k

// The scaler is updated after every micro-batch.
namespace scale_grows_in_between {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& scale = evidence.c.recipe.loss_scale;
  if (held.name.tensor != "in.factor" || scale.kind != kinds::dynamic) return std::nullopt;
  const double clean = evidence.scalar(held.name.window, "scaler", "in.growth_counter", 0) + held.name.micro_batch;
  if (clean < static_cast<double>(scale.integer("growth_interval"))) return std::nullopt;
  return times(held.expected, scale.number("growth_factor").to_double());
}

const RegisterBug registered{{
    .name = "scale-changes-mid-window",
    .stages = {"loss"},
    .sentence = "the loss scale grows inside a window, so that its micro-batches carry different scales",
    .formula = "c = S_k / N",
    .remedy = "call `scaler.update()` only after the window's step",
    .left = left,
}};

}  // namespace scale_grows_in_between

// The loss is not scaled, though the gradient is unscaled.
namespace scale_left_out {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  return times(held.expected, 1 / evidence.scale(held.name.window));
}

const RegisterBug registered{{
    .name = "scale-not-applied",
    .stages = {"loss"},
    .sentence = "the loss is not scaled, but its gradient is unscaled",
    .formula = "c = 1 / N",
    .remedy = "call `scaler.scale(loss).backward()`",
    .left = left,
}};

}  // namespace scale_left_out

// The smoothing term is added whole to every micro-batch.
namespace smoothing_times_k {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "loss") return std::nullopt;
  const auto rows = smoothed_rows(evidence, held.name.window, held.name.micro_batch);
  if (!rows) return std::nullopt;
  Values loss;
  for (const SmoothedRow& row : *rows) loss.push_back(row.main + evidence.micro_batches(held.name.window) * row.spread);
  return loss;
}

const RegisterBug registered{{
    .name = "aux-loss-not-divided",
    .stages = {"loss"},
    .sentence = "the smoothing term is not divided like the main term: every micro-batch adds all of it",
    .formula = "l = main + K aux",
    .remedy = "divide the added term like the main one: `(main + aux) / K`",
    .left = left,
}};

}  // namespace smoothing_times_k

// The smoothing term counts in the loss, but has no gradient.
namespace smoothing_without_gradient {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "d.y") return std::nullopt;
  const auto rows = smoothed_rows(evidence, held.name.window, held.name.micro_batch);
  const auto factor = evidence.tap(held.name.window, held.name.micro_batch, "loss", "in.factor");
  if (!rows || !factor) return std::nullopt;
  Values gradient;
  for (const SmoothedRow& row : *rows) {
    for (const double g : row.main_gradient) gradient.push_back(factor->front() * g);
  }
  return gradient;
}

const RegisterBug registered{{
    .name = "aux-gradient-never-flows",
    .stages = {"loss"},
    .sentence = "the smoothing term is in the loss, but its gradient never flows",
    .formula = "dy = c (1 - ε) ∂nll/∂y",
    .remedy = "compute the added term with gradients: without `torch.no_grad()`, `.detach()` or `.item()`",
    .left = left,
}};

}  // namespace smoothing_without_gradient

}  // namespace
}  // namespace tally::loss_factors_bug
