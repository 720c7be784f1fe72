// (constant.1)  rate = base
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::constant_exact {
namespace {

template <class T>
T constant(const Choice& schedule, std::int64_t) {
  return number<T>(schedule.number("base"));
}

const RegisterExactSchedule registered("constant", []<class T>(Scalar<T>) -> ExactRate<T> { return constant<T>; });

}  // namespace
}  // namespace tally::oracle::constant_exact
