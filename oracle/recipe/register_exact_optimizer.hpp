// Registration of an optimizer's exact step; included by `<kind>_exact.cpp` alone, as it pulls in Boost.
#pragma once

#include "oracle/layers/register_exact.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {

/// One parameter's step at step t (the first is 0). `slot.state` holds every tensor of state_of(optimizer): zeros where
/// it begins so, an empty one where it begins with the gradient and there is none yet.
template <class T>
using ExactStep = Slot<T> (*)(const Choice& optimizer, const T& rate, std::int64_t step, const Matrix<T>& gradient,
                              Slot<T> slot);

struct RegisterExactOptimizer {
  /// `of(Scalar<T>{})` gives the ExactStep<T>.
  template <class Of>
  RegisterExactOptimizer(std::string_view kind, Of of, std::source_location at = std::source_location::current()) {
    enter(kind, {of(Scalar<Real>{}), of(Scalar<long double>{}), of(Scalar<Ball>{})}, at);
  }

 private:
  static void enter(std::string_view kind, OverAllScalars<ExactStep> step, std::source_location at);
};

}  // namespace tally::oracle
