// (constant.1)  rate = base
// (constant.1), a number of the case.
#include "oracle/case/contract.hpp"
#include "oracle/exact/registered_exact.hpp"
#include "oracle/recipe/recipe_rules.hpp"

namespace tally::oracle::constant_kind {
namespace {

template <class T>
T constant(const Choice& schedule, std::int64_t) {
  return number<T>(schedule.number("base"));
}

const RegisterExactSchedule registered_exact("constant",
                                             []<class T>(Scalar<T>) -> ExactRate<T> { return constant<T>; });

const RegisterContract registered_contract{
    {.section = "learning_rate",
     .kind = "constant",
     .options = {{.name = "base", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}}},
     .definition = "rate = base"}};

StepRate rate(const Choice&, long double exact, std::int64_t) { return few_roundings(exact, std::fabs(exact)); }

const RegisterScheduleRules registered_rules("constant", {.rate = rate, .is_written = true});

}  // namespace
}  // namespace tally::oracle::constant_kind
