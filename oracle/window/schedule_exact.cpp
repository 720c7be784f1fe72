#include "oracle/real/functions.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {
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

}  // namespace

template <class T>
T learning_rate(const Choice& schedule, std::int64_t step) {
  if (schedule.kind == "constant") return number<T>(schedule.number("base"));
  if (schedule.kind == "step") {
    const T base = number<T>(schedule.number("base"));
    if (base == 0) return base;  // however large the power
    return base * power(number<T>(schedule.number("factor")), step / schedule.integer("every"));
  }
  if (schedule.kind == "warmup_cosine") return warmup_cosine<T>(schedule, step);
  throw std::logic_error("learning_rate: no mathematics for kind \"" + schedule.kind + "\"");
}

template Real learning_rate<Real>(const Choice&, std::int64_t);
template long double learning_rate<long double>(const Choice&, std::int64_t);
template Ball learning_rate<Ball>(const Choice&, std::int64_t);

}  // namespace tally::oracle
