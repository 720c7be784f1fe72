// Registration of exact mathematics, of layers, losses and the kinds of a recipe's sections. Pulls in Boost.
#pragma once

#include <string_view>
#include <type_traits>

#include "oracle/exact/exact.hpp"
#include "oracle/real/ball.hpp"
#include "oracle/real/real.hpp"
#include "oracle/real/short_ball.hpp"
#include "oracle/registered_files.hpp"

namespace tally::oracle {

// Registration of exact mathematics; included by the sources of kinds and those that look a kind up, as it
// pulls in Boost. The formulas are written once: here is said over which scalars they are instantiated.

/// Names a scalar to a generic lambda.
template <class T>
struct Scalar {};

template <template <class> class Mathematics>
struct OverAllScalars {
  /// `of(Scalar<T>{})` gives the Mathematics<T>.
  template <class Of>
  OverAllScalars(Of of)
      : real(of(Scalar<Real>{})),
        wide(of(Scalar<long double>{})),
        ball(of(Scalar<Ball>{})),
        short_ball(of(Scalar<ShortBall>{})) {}

  Mathematics<Real> real;
  Mathematics<long double> wide;
  Mathematics<Ball> ball;
  Mathematics<ShortBall> short_ball;

  template <class T>
  const Mathematics<T>& over() const {
    if constexpr (std::is_same_v<T, Real>)
      return real;
    else if constexpr (std::is_same_v<T, Ball>)
      return ball;
    else if constexpr (std::is_same_v<T, ShortBall>)
      return short_ball;
    else
      return wide;
  }
};

/// Throws std::logic_error for a kind of this section without mathematics.
template <class T, template <class> class Mathematics>
const Mathematics<T>& exact_of(std::string_view section, std::string_view kind) {
  return RegisterKind<OverAllScalars<Mathematics>>::of("exact mathematics", section, kind).template over<T>();
}

// Registration of what the kinds of a recipe's sections do, exactly; a kind whose contract says that it does nothing
// has none. Included by `<kind>.cpp` and by the functions of oracle/exact/exact.hpp that look a kind up.

/// One parameter's step at step t (the first is 0). `slot.state` holds every tensor of state_of(optimizer): zeros where
/// it begins so, an empty one where it begins with the gradient and there is none yet.
template <class T>
using ExactStep = Slot<T> (*)(const Choice& optimizer, const T& rate, std::int64_t step, const Matrix<T>& gradient,
                              Slot<T> slot);

/// The learning rate of step t.
template <class T>
using ExactRate = T (*)(const Choice& schedule, std::int64_t step);

template <class T>
struct ExactClip {
  Matrix<T> (*clipped)(const Choice& clip, const T& coefficient, const Matrix<T>& gradient);
  /// The coefficient of step t by the norm of all gradients; nullptr for a kind that reads none.
  T (*coefficient)(const Choice& clip, const T& norm, std::int64_t step) = nullptr;
};

/// What decays_gradient says: the new gradient, or the new parameter.
template <class T>
using ExactDecay = Matrix<T> (*)(const Choice& weight_decay, const T& rate, const Matrix<T>& gradient,
                                 const Matrix<T>& parameter);

/// The scale after a window, of the kinds that check for overflow.
template <class T>
using ExactScale = Scale<T> (*)(const Choice& loss_scale, const Scale<T>& now, bool found_non_finite);

}  // namespace tally::oracle
