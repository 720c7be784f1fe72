// (constant.1), a number of the case.
#include "oracle/recipe/recipe_rules.hpp"

namespace tally::oracle::constant_bound {
namespace {

StepRate rate(const Choice&, long double exact, std::int64_t) { return few_roundings(exact, std::fabs(exact)); }

const RegisterScheduleRules registered("constant", {.rate = rate, .is_written = true});

}  // namespace
}  // namespace tally::oracle::constant_bound
