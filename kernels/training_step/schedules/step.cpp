// (step.1), in binary64.
#include <cmath>

#include "kernels/training_step/kind_steps.hpp"

namespace tally::step_steps {
namespace {

double rate(const Choice& schedule, std::int64_t t) {
  const double base = schedule.number("base").to_double();
  if (base == 0) return base;  // 0 times a power that overflows would be NaN
  return base * std::pow(schedule.number("factor").to_double(), static_cast<double>(t / schedule.integer("every")));
}

const RegisterScheduleSteps registered("step", {rate});

}  // namespace
}  // namespace tally::step_steps
