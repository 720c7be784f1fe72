// A is the buffer of a window's gradients, of losses that were multiplied by the scale. Exact gradients have no scale,
// so that no code here divides; each kind's file (oracle/recipe) updates the scale after a window.
// (scaler.1)  g = A / scale
#include "oracle/case/contract.hpp"
#include "oracle/exact/registered_exact.hpp"

namespace tally::oracle {

template <class T>
Scale<T> initial_scale(const Choice& loss_scale) {
  const Decimal* written = written_scale(loss_scale);
  return {written == nullptr ? T(1) : number<T>(*written),
          checks_overflow(loss_scale) ? loss_scale.integer("growth_counter") : 0};
}

template <class T>
Scale<T> next_scale(const Choice& loss_scale, const Scale<T>& now, bool found_non_finite) {
  if (!checks_overflow(loss_scale)) return now;
  return exact_of<T, ExactScale>("loss_scale", loss_scale.kind)(loss_scale, now, found_non_finite);
}

template Scale<Real> initial_scale<Real>(const Choice&);
template Scale<long double> initial_scale<long double>(const Choice&);
template Scale<Ball> initial_scale<Ball>(const Choice&);
template Scale<ShortBall> initial_scale<ShortBall>(const Choice&);
template Scale<Real> next_scale(const Choice&, const Scale<Real>&, bool);
template Scale<long double> next_scale(const Choice&, const Scale<long double>&, bool);
template Scale<Ball> next_scale(const Choice&, const Scale<Ball>&, bool);
template Scale<ShortBall> next_scale(const Choice&, const Scale<ShortBall>&, bool);

}  // namespace tally::oracle
