// t counts the steps taken before this one.
// (warmup_cosine.1)  rate = base (t + 1) / warmup  for t < warmup
// (warmup_cosine.2)  rate = floor + (base - floor)(1 + cos(pi (t - warmup) / (total - warmup))) / 2  for t < total
// (warmup_cosine.3)  rate = floor  from t = total on
#include "oracle/real/functions.hpp"
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::warmup_cosine_exact {
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

const RegisterExactSchedule registered("warmup_cosine",
                                       []<class T>(Scalar<T>) -> ExactRate<T> { return warmup_cosine<T>; });

}  // namespace
}  // namespace tally::oracle::warmup_cosine_exact
