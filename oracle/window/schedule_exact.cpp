#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle {

template <class T>
T learning_rate(const Choice& schedule, std::int64_t step) {
  return exact_of<T, ExactRate>("learning_rate", schedule.kind)(schedule, step);
}

template Real learning_rate<Real>(const Choice&, std::int64_t);
template long double learning_rate<long double>(const Choice&, std::int64_t);
template Ball learning_rate<Ball>(const Choice&, std::int64_t);
template ShortBall learning_rate<ShortBall>(const Choice&, std::int64_t);

}  // namespace tally::oracle
