// The learning rate, fixed from the step count when a window starts, and the count itself, which moves with steps
// really taken. Binary64 on the host, as frameworks keep it.
#include <cmath>
#include <numbers>

#include "kernels/training_step/stages.hpp"

namespace tally::stage {
namespace {

double warmup_cosine(const Choice& choice, std::int64_t t) {
  const double base = choice.number("base").to_double(), floor = choice.number("floor").to_double();
  const std::int64_t warmup = choice.integer("warmup"), total = choice.integer("total");
  if (t < warmup) return base * static_cast<double>(t + 1) / static_cast<double>(warmup);
  if (t >= total) return floor;
  const double done = static_cast<double>(t - warmup) / static_cast<double>(total - warmup);
  return floor + (base - floor) * (1 + std::cos(std::numbers::pi * done)) / 2;
}

double rate_of(const Choice& choice, std::int64_t t) {
  if (choice.kind == "warmup_cosine") return warmup_cosine(choice, t);
  const double base = choice.number("base").to_double();
  if (choice.kind == "constant" || base == 0) return base;  // 0 times a power that overflows would be NaN
  return base * std::pow(choice.number("factor").to_double(), static_cast<double>(t / choice.integer("every")));
}

}  // namespace

void fix_learning_rate(Run& run) { run.learning_rate = rate_of(run.c.recipe.learning_rate, run.step); }

void schedule(Run& run) {
  run.tap("schedule", "in.step", run.step);
  run.tap("schedule", "in.found", run.found_flag.data(), Dtype::u8, {});
  if (!run.found) ++run.step;
  run.tap("schedule", "step", run.step);
  run.tap("schedule", "learning_rate", static_cast<float>(run.learning_rate));
}

}  // namespace tally::stage
