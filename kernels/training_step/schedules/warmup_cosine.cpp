// (warmup_cosine.1), (warmup_cosine.2) and (warmup_cosine.3), in binary64.
#include <cmath>
#include <numbers>

#include "kernels/training_step/kind_steps.hpp"

namespace tally::warmup_cosine_steps {
namespace {

double rate(const Choice& schedule, std::int64_t t) {
  const double base = schedule.number("base").to_double(), floor = schedule.number("floor").to_double();
  const std::int64_t warmup = schedule.integer("warmup"), total = schedule.integer("total");
  if (t < warmup) return base * static_cast<double>(t + 1) / static_cast<double>(warmup);
  if (t >= total) return floor;
  const double done = static_cast<double>(t - warmup) / static_cast<double>(total - warmup);
  return floor + (base - floor) * (1 + std::cos(std::numbers::pi * done)) / 2;
}

const RegisterScheduleSteps registered("warmup_cosine", {rate});

}  // namespace
}  // namespace tally::warmup_cosine_steps
