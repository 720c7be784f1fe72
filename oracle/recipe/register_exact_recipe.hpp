// Registration of what the kinds of a recipe's sections do, exactly; a kind whose contract says that it does nothing
// has none. Included by `<kind>.cpp` and by the functions of oracle/window/exact_stages.hpp that look a kind up.
#pragma once

#include "oracle/layers/register_exact.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {

/// One parameter's step at step t (the first is 0). `slot.state` holds every tensor of state_of(optimizer): zeros where
/// it begins so, an empty one where it begins with the gradient and there is none yet.
template <class T>
using ExactStep = Slot<T> (*)(const Choice& optimizer, const T& rate, std::int64_t step, const Matrix<T>& gradient,
                              Slot<T> slot);
using RegisterExactOptimizer = RegisterExact<ExactStep>;

/// The learning rate of step t.
template <class T>
using ExactRate = T (*)(const Choice& schedule, std::int64_t step);
using RegisterExactSchedule = RegisterExact<ExactRate>;

template <class T>
struct ExactClip {
  Matrix<T> (*clipped)(const Choice& clip, const T& coefficient, const Matrix<T>& gradient);
  /// The coefficient by the norm of all gradients; nullptr for a kind that reads none.
  T (*coefficient)(const Choice& clip, const T& norm) = nullptr;
};
using RegisterExactClip = RegisterExact<ExactClip>;

/// What decays_gradient says: the new gradient, or the new parameter.
template <class T>
using ExactDecay = Matrix<T> (*)(const Choice& weight_decay, const T& rate, const Matrix<T>& gradient,
                                 const Matrix<T>& parameter);
using RegisterExactDecay = RegisterExact<ExactDecay>;

/// The scale after a window, of the kinds that check for overflow.
template <class T>
using ExactScale = Scale<T> (*)(const Choice& loss_scale, const Scale<T>& now, bool found_non_finite);
using RegisterExactScale = RegisterExact<ExactScale>;

}  // namespace tally::oracle
