// Registration of exact mathematics; included by the `<kind>_exact.cpp` sources alone, as it pulls in Boost. The
// formulas are written once: here is said over which scalars they are instantiated.
#pragma once

#include <source_location>
#include <string_view>

#include "oracle/layers/exact.hpp"
#include "oracle/real/ball.hpp"
#include "oracle/real/real.hpp"

namespace tally::oracle {

/// Names a scalar to a generic lambda.
template <class T>
struct Scalar {};

template <template <class> class Mathematics>
struct OverAllScalars {
  Mathematics<Real> real;
  Mathematics<long double> wide;
  Mathematics<Ball> ball;
};

struct RegisterExactLayer {
  /// `of(Scalar<T>{})` gives the ExactLayer<T>.
  template <class Of>
  RegisterExactLayer(std::string_view kind, Of of, std::source_location at = std::source_location::current()) {
    enter(kind, {of(Scalar<Real>{}), of(Scalar<long double>{}), of(Scalar<Ball>{})}, at);
  }

 private:
  static void enter(std::string_view kind, OverAllScalars<ExactLayer> layer, std::source_location at);
};

struct RegisterExactLoss {
  /// `of(Scalar<T>{})` gives the ExactLoss<T>.
  template <class Of>
  RegisterExactLoss(std::string_view kind, Of of, std::source_location at = std::source_location::current()) {
    enter(kind, {of(Scalar<Real>{}), of(Scalar<long double>{}), of(Scalar<Ball>{})}, at);
  }

 private:
  static void enter(std::string_view kind, OverAllScalars<ExactLoss> loss, std::source_location at);
};

}  // namespace tally::oracle
