// Rates that some schedule came to, one a step.
// (list.1)  rate = rates[min(max(t - first, 0), n - 1)], n rates
#include <algorithm>

#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::list_exact {
namespace {

template <class T>
T listed(const Choice& schedule, std::int64_t step) {
  const std::vector<Decimal>& rates = schedule.numbers("rates");
  const std::int64_t first = schedule.integer("first");
  const auto at = step <= first ? 0 : std::min(static_cast<std::size_t>(step - first), rates.size() - 1);
  return number<T>(rates.at(at));
}

const RegisterExactSchedule registered("list", []<class T>(Scalar<T>) -> ExactRate<T> { return listed<T>; });

}  // namespace
}  // namespace tally::oracle::list_exact
