// The rates of the schedules, and how a loss scale moves.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/training_step/kind_steps.hpp"

// (constant.1), in binary64.
namespace tally::constant_steps {
namespace {

double rate(const Choice& schedule, std::int64_t) { return schedule.number("base").to_double(); }

const RegisterKind<ScheduleSteps> registered("constant", {rate});

}  // namespace
}  // namespace tally::constant_steps

// (list.1), in binary64.
namespace tally::list_steps {
namespace {

double rate(const Choice& schedule, std::int64_t t) {
  const std::vector<Decimal>& rates = schedule.numbers("rates");
  const std::int64_t past = std::max<std::int64_t>(t - schedule.integer("first"), 0);
  return rates.at(std::min(static_cast<std::size_t>(past), rates.size() - 1)).to_double();
}

const RegisterKind<ScheduleSteps> registered("list", {rate});

}  // namespace
}  // namespace tally::list_steps

// (step.1), in binary64.
namespace tally::step_steps {
namespace {

double rate(const Choice& schedule, std::int64_t t) {
  const double base = schedule.number("base").to_double();
  if (base == 0) return base;  // 0 times a power that overflows would be NaN
  return base * std::pow(schedule.number("factor").to_double(), static_cast<double>(t / schedule.integer("every")));
}

const RegisterKind<ScheduleSteps> registered("step", {rate});

}  // namespace
}  // namespace tally::step_steps

// (warmup_cosine.1), (warmup_cosine.2) and (warmup_cosine.3), in binary64.
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

const RegisterKind<ScheduleSteps> registered("warmup_cosine", {rate});

}  // namespace
}  // namespace tally::warmup_cosine_steps

namespace tally::dynamic_steps {
namespace {

void move(Run& run) {
  const Choice& choice = run.c.recipe.loss_scale;
  run.launch<ScalerArguments>(
      "scaler", {run.scale.as<float>(), run.growth_counter.as<std::int64_t>(), run.found_flag.as<std::uint32_t>(),
                 static_cast<float>(choice.number("growth_factor").to_double()),
                 static_cast<float>(choice.number("backoff_factor").to_double()), choice.integer("growth_interval")});
}

const RegisterKind<LossScaleSteps> registered("dynamic", {move});

}  // namespace
}  // namespace tally::dynamic_steps
