// How far (warmup_cosine.1), (warmup_cosine.2) and (warmup_cosine.3) may be off where a subject derives them.
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::warmup_cosine_bound {
namespace {

/// The cosine cancels against the larger of its ends.
StepRate rate(const Choice& schedule, long double exact, std::int64_t step) {
  const long double size =
      std::max(std::fabs(number<long double>(schedule.number("base"))), number<long double>(schedule.number("floor")));
  StepRate rate = few_roundings(exact, size);
  if (step >= schedule.integer("warmup")) return rate;
  const long double product = size * (static_cast<long double>(step) + 1);  // the base times a count comes first
  if (!(product < 0x1p1023L)) rate.margin = infinite;
  if (!(product < 0x1p127L)) rate.in_fp32 = infinite;
  return rate;
}

const RegisterScheduleRules registered("warmup_cosine", {.rate = rate});

}  // namespace
}  // namespace tally::oracle::warmup_cosine_bound
