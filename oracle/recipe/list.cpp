// Rates that some schedule came to, one a step.
// (list.1)  rate = rates[min(max(t - first, 0), n - 1)], n rates
// (list.1), a number of the case.
#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"

namespace tally::oracle::list_kind {
namespace {

template <class T>
T listed(const Choice& schedule, std::int64_t step) {
  const std::vector<Decimal>& rates = schedule.numbers("rates");
  const std::int64_t first = schedule.integer("first");
  const auto at = step <= first ? 0 : std::min(static_cast<std::size_t>(step - first), rates.size() - 1);
  return number<T>(rates.at(at));
}

std::vector<Misfit> misfits(const Choice& schedule) {
  if (!schedule.numbers("rates").empty()) return {};
  return {{"rates", "[]", "at least one rate"}};
}

const Contract contract{
    .kind = "list",
    .options =
        {{.name = "first", .type = OptionType::integer, .standard = std::int64_t{0}, .range = {.at_least = "0"}},
         {.name = "rates", .type = OptionType::number_list, .standard = std::nullopt, .range = {.at_least = "0"}}},
    .drawn = false,
    .misfits = misfits,
    .definition = "the rate of step t is rates[t - first]; the first one before, the last one after"};

StepRate rate(const Choice&, long double exact, std::int64_t) { return few_roundings(exact, std::fabs(exact)); }

const Register<ScheduleDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactRate<T> { return listed<T>; }, {.rate = rate, .is_written = true}}};

}  // namespace
}  // namespace tally::oracle::list_kind
