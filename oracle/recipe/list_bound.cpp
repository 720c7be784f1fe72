// (list.1), a number of the case.
#include "oracle/recipe/recipe_rules.hpp"

namespace tally::oracle::list_bound {
namespace {

StepRate rate(const Choice&, long double exact, std::int64_t) { return few_roundings(exact, std::fabs(exact)); }

const RegisterScheduleRules registered("list", {.rate = rate, .is_written = true});

}  // namespace
}  // namespace tally::oracle::list_bound
