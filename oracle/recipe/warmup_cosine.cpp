// t counts the steps taken before this one.
// (warmup_cosine.1)  rate = base (t + 1) / warmup  for t < warmup
// (warmup_cosine.2)  rate = floor + (base - floor)(1 + cos(pi (t - warmup) / (total - warmup))) / 2  for t < total
// (warmup_cosine.3)  rate = floor  from t = total on
// How far (warmup_cosine.1), (warmup_cosine.2) and (warmup_cosine.3) may be off where a subject derives them.
#include "oracle/case/contract.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::warmup_cosine_kind {
namespace {

template <class T>
T warmup_cosine(const Choice& schedule, std::int64_t step) {
  const T base = number<T>(schedule.number("base")), floor = number<T>(schedule.number("floor"));
  const std::int64_t warmup = schedule.integer("warmup"), total = schedule.integer("total");
  if (step < warmup) return base * (step + 1) / warmup;
  if (step >= total) return floor;
  const T angle = pi<T>() * (step - warmup) / (total - warmup);
  return floor + (base - floor) * (1 + cos(angle)) / 2;
}

const Contract contract{
    .kind = "warmup_cosine",
    .options = {{.name = "base", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}},
                {.name = "warmup", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "0"}},
                {.name = "total", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "0"}},
                {.name = "floor", .type = OptionType::number, .standard = Decimal{"0"}, .range = {.at_least = "0"}}},
    .misfits = [](const Choice& rate) -> std::vector<Misfit> {
      if (rate.integer("warmup") <= rate.integer("total")) return {};
      return {{"warmup", std::to_string(rate.integer("warmup")),
               "at most total, " + std::to_string(rate.integer("total"))}};
    },
    .definition = "a linear rise to base over warmup steps, then half a cosine down to floor at total"};

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

const Register<ScheduleDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactRate<T> { return warmup_cosine<T>; }, {.rate = rate}}};

}  // namespace
}  // namespace tally::oracle::warmup_cosine_kind
