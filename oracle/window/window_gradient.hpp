// Forward through the model, the loss, and backward, over all rows of a window at once.
#pragma once

#include "oracle/window/window_rows.hpp"

namespace tally::oracle {

template <class T>
struct WindowGradient {
  T loss;                // the sum of the rows' losses, without any factor
  Tensors<T> gradient;   // of the rows' losses times their factors; by parameter
  Tensors<T> mean, var;  // batch statistics by layer name, [groups, features], var biased; none for frozen layers
};

/// `state` gives the parameters and running values; `decisions` (by layer label) are replayed.
template <class T>
WindowGradient<T> window_gradient(const Case& c, const WindowRows<T>& rows, const State<T>& state,
                                  const WindowDecisions& decisions);

}  // namespace tally::oracle
