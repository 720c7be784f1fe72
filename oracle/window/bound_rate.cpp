// The learning rate as a subject derives it from its step count.
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {

StepRate step_rate(const Choice& schedule, std::int64_t step) {
  const auto exact = learning_rate<long double>(schedule, step);
  long double size = std::fabs(number<long double>(schedule.number("base")));
  if (schedule.kind == "warmup_cosine") size = std::max(size, number<long double>(schedule.number("floor")));
  // A cosine cancels against the larger of its ends; any schedule is a few roundings of that.
  StepRate rate(exact, size * 0x1p-49L, 8 * single().u() * static_cast<double>(size));
  if (schedule.kind == "warmup_cosine" && step < schedule.integer("warmup")) {  // the base times a count comes first
    const long double product = size * (static_cast<long double>(step) + 1);
    if (!(product < 0x1p1023L)) rate.margin = infinite;
    if (!(product < 0x1p127L)) rate.in_fp32 = infinite;
  }
  if (schedule.kind != "step" || size == 0) return rate;
  // A power is off by its factor's rounding n times over and by its own; it may leave the range that base brings it
  // into.
  const auto n = static_cast<long double>(step / schedule.integer("every"));
  const long double power = exact / size;
  const bool in_range = power < 0x1p1023L && std::fabs(exact) < 0x1p1023L;
  rate.margin =
      in_range ? std::fabs(exact) * std::expm1((n + 8) * 0x1p-52L) + size * 0x1p-1073L + 0x1p-1074L : infinite;
  rate.in_fp32 = power < 0x1p127L ? static_cast<double>(exact) * gam(2 * static_cast<double>(n) + 8, single().u()) +
                                        static_cast<double>(size) * 0x1p-148
                                  : infinite;
  return rate;
}

Bounded held_rate(const Declared& subject, const StepRate& rate) {
  Bounded held = constant(rate.exact, rate.margin + std::fabs(rate.exact) * 0x1p-49L);
  if (subject.claims.constants != "binary64") held.e += rate.in_fp32;
  return held;
}

Expected rate(const Declared& subject, const Choice& schedule, std::int64_t step) {
  const StepRate derived = step_rate(schedule, step);
  return scalar(derived.exact, held_rate(subject, derived).e);
}

}  // namespace tally::oracle
