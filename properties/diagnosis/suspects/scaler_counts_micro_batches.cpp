// The scaler is updated once for every micro-batch.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

struct Scaler {
  double scale, counter;
};

Scaler after(const Choice& choice, Scaler now, bool found, int updates) {
  for (int k = 0; k < updates; ++k) {
    if (found) {
      now = {now.scale * choice.number("backoff_factor").to_double(), 0};
    } else if (++now.counter >= static_cast<double>(choice.integer("growth_interval"))) {
      now = {now.scale * choice.number("growth_factor").to_double(), 0};
    }
  }
  return now;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const bool scale = held.name.tensor == "scale";
  if (!scale && held.name.tensor != "growth_counter") return std::nullopt;
  const Scaler now{evidence.scalar(held.name.window, "scaler", "in.scale", 1),
                   evidence.scalar(held.name.window, "scaler", "in.growth_counter", 0)};
  const bool found = evidence.scalar(held.name.window, "scaler", "in.found", 0) != 0;
  const Scaler moved = after(evidence.c.recipe.loss_scale, now, found, evidence.micro_batches(held.name.window));
  return Values{scale ? moved.scale : moved.counter};
}

const RegisterSuspect registered{{
    .name = "scaler-counts-micro-batches",
    .faults = {"scaler-counts-microbatches"},
    .stages = {"scaler"},
    .sentence = "the loss scaler is updated once for every micro-batch, not once a window",
    .formula = "K updates a window",
    .left = left,
}};

}  // namespace
}  // namespace tally
