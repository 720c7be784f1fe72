#include "oracle/real/functions.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {

template <class T>
Scale<T> initial_scale(const Choice& loss_scale) {
  if (loss_scale.kind == "none") return {T(1), 0};
  if (loss_scale.kind == "static") return {number<T>(loss_scale.number("scale")), 0};
  return {number<T>(loss_scale.number("initial")), loss_scale.integer("growth_counter")};
}

template <class T>
Scale<T> next_scale(const Choice& loss_scale, const Scale<T>& now, bool found_non_finite) {
  if (loss_scale.kind != "dynamic") return now;
  if (found_non_finite) return {T(now.scale * number<T>(loss_scale.number("backoff_factor"))), 0};
  if (now.growth_counter + 1 < loss_scale.integer("growth_interval")) return {now.scale, now.growth_counter + 1};
  return {T(now.scale * number<T>(loss_scale.number("growth_factor"))), 0};
}

template Scale<Real> initial_scale<Real>(const Choice&);
template Scale<long double> initial_scale<long double>(const Choice&);
template Scale<Ball> initial_scale<Ball>(const Choice&);
template Scale<Real> next_scale(const Choice&, const Scale<Real>&, bool);
template Scale<long double> next_scale(const Choice&, const Scale<long double>&, bool);
template Scale<Ball> next_scale(const Choice&, const Scale<Ball>&, bool);

}  // namespace tally::oracle
