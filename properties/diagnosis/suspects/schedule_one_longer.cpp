// The schedule is told one step more than the run will take.
#include <cmath>
#include <numbers>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& rate = evidence.c.recipe.learning_rate;
  if (held.name.tensor != "in.learning_rate" || rate.kind != "warmup_cosine") return std::nullopt;
  const double base = rate.number("base").to_double(), floor = rate.number("floor").to_double();
  const double step = evidence.scalar(held.name.window, "schedule", "in.step", 0);
  const auto warmup = static_cast<double>(rate.integer("warmup")),
             total = static_cast<double>(rate.integer("total")) + 1;
  if (step < warmup || step >= total) return std::nullopt;
  const double done = (step - warmup) / (total - warmup);
  return Values{floor + (base - floor) * (1 + std::cos(std::numbers::pi * done)) / 2};
}

const RegisterSuspect registered{{
    .name = "schedule-one-longer",
    .faults = {"update-count-off-by-one"},
    .stages = {"optimizer"},
    .sentence = "the schedule counts one step more than the run will take",
    .formula = "rate of (t - warmup) / (total + 1 - warmup)",
    .left = left,
}};

}  // namespace
}  // namespace tally
