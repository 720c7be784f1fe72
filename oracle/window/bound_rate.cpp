// The learning rate as a subject derives it from its step count.
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {
StepRate step_rate(const Choice& schedule, std::int64_t step) {
  return schedule_rules(schedule).rate(schedule, learning_rate<long double>(schedule, step), step);
}

StepRate few_roundings(long double exact, long double size) {
  return {exact, size * 0x1p-49L, 8 * single().u() * static_cast<double>(size)};
}

Bounded held_rate(const Declared& declared, const StepRate& rate) {
  Bounded held = constant(rate.exact, rate.margin + std::fabs(rate.exact) * 0x1p-49L);
  if (declared.claims.constants != "binary64") held.e += rate.in_fp32;
  return held;
}

Expected rate(const Declared& declared, const Choice& schedule, std::int64_t step) {
  const StepRate derived = step_rate(schedule, step);
  return scalar(derived.exact, held_rate(declared, derived).e);
}

}  // namespace tally::oracle
