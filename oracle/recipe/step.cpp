// t counts the steps taken before this one.
// (step.1)  rate = base · factor^floor(t / every)
// How far (step.1) may be off where a subject derives it.
#include "oracle/case/contract.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::step_kind {
namespace {

template <class T>
T step_decay(const Choice& schedule, std::int64_t step) {
  const T base = number<T>(schedule.number("base"));
  if (base == 0) return base;  // however large the power
  return base * power(number<T>(schedule.number("factor")), step / schedule.integer("every"));
}

const Contract contract{
    .kind = "step",
    .options = {{.name = "base", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}},
                {.name = "every", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "1"}},
                {.name = "factor", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}}},
    .definition = "rate = base * factor^floor(t / every)"};

/// A power is off by its factor's rounding n times over and by its own; it may leave the range that base brings it
/// into.
StepRate rate(const Choice& schedule, long double exact, std::int64_t step) {
  const long double size = std::fabs(number<long double>(schedule.number("base")));
  if (size == 0) return few_roundings(exact, size);
  const auto n = static_cast<long double>(step / schedule.integer("every"));
  const long double power = exact / size;
  const bool in_range = power < 0x1p1023L && std::fabs(exact) < 0x1p1023L;
  return {exact,
          in_range ? std::fabs(exact) * std::expm1((n + 8) * 0x1p-52L) + size * 0x1p-1073L + 0x1p-1074L : infinite,
          power < 0x1p127L ? static_cast<double>(exact) * gam(2 * static_cast<double>(n) + 8, 0x1p-24 * pays) +
                                 static_cast<double>(size) * 0x1p-148
                           : infinite};
}

const Register<ScheduleDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactRate<T> { return step_decay<T>; }, {.rate = rate}}};

}  // namespace
}  // namespace tally::oracle::step_kind
