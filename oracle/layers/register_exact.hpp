// Registration of exact mathematics; included by the sources of kinds and those that look a kind up, as it
// pulls in Boost. The formulas are written once: here is said over which scalars they are instantiated.
#pragma once

#include <source_location>
#include <string_view>
#include <type_traits>

#include "oracle/layers/exact.hpp"
#include "oracle/real/ball.hpp"
#include "oracle/real/real.hpp"
#include "oracle/real/short_ball.hpp"
#include "oracle/registered_kind.hpp"

namespace tally::oracle {

/// Names a scalar to a generic lambda.
template <class T>
struct Scalar {};

template <template <class> class Mathematics>
struct OverAllScalars {
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

template <template <class> class Mathematics>
struct RegisterExact : RegisterKind<OverAllScalars<Mathematics>> {
  /// `of(Scalar<T>{})` gives the Mathematics<T>.
  template <class Of>
  RegisterExact(std::string_view kind, Of of, std::source_location at = std::source_location::current())
      : RegisterKind<OverAllScalars<Mathematics>>(
            kind, {of(Scalar<Real>{}), of(Scalar<long double>{}), of(Scalar<Ball>{}), of(Scalar<ShortBall>{})}, at) {}
};

/// Throws std::logic_error for a kind of this section without mathematics.
template <class T, template <class> class Mathematics>
const Mathematics<T>& exact_of(std::string_view section, std::string_view kind) {
  return RegisterExact<Mathematics>::of("exact mathematics", section, kind).template over<T>();
}

using RegisterExactLayer = RegisterExact<ExactLayer>;
using RegisterExactLoss = RegisterExact<ExactLoss>;

}  // namespace tally::oracle
