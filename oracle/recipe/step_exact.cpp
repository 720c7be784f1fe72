// t counts the steps taken before this one.
// (step.1)  rate = base · factor^floor(t / every)
#include "oracle/real/functions.hpp"
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::step_exact {
namespace {

template <class T>
T step_decay(const Choice& schedule, std::int64_t step) {
  const T base = number<T>(schedule.number("base"));
  if (base == 0) return base;  // however large the power
  return base * power(number<T>(schedule.number("factor")), step / schedule.integer("every"));
}

const RegisterExactSchedule registered("step", []<class T>(Scalar<T>) -> ExactRate<T> { return step_decay<T>; });

}  // namespace
}  // namespace tally::oracle::step_exact
