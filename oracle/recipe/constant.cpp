// (constant.1)  rate = base
// (constant.1), a number of the case.
#include "oracle/case/contract.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"

namespace tally::oracle::constant_kind {
namespace {

template <class T>
T constant(const Choice& schedule, std::int64_t) {
  return number<T>(schedule.number("base"));
}

const Contract contract{
    .kind = "constant",
    .options = {{.name = "base", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}}},
    .definition = "rate = base"};

StepRate rate(const Choice&, long double exact, std::int64_t) { return few_roundings(exact, std::fabs(exact)); }

const Register<ScheduleDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactRate<T> { return constant<T>; }, {.rate = rate, .is_written = true}}};

}  // namespace
}  // namespace tally::oracle::constant_kind
