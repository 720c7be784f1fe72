// The composed oracle: whole windows, one after another, exactly; also in balls of fixed size. The gradient of one
// window, over all its rows at once. Defined in trajectory.cpp, window_gradient.cpp.
#pragma once

#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle {

// The composed oracle: whole windows, one after another, exactly. `tally oracle` prints it; the end-to-end lens and the
// drift figures start from it.

enum class Branch { full_batch, accumulated };
std::string name_of(Branch branch);

template <class T>
struct State {
  std::map<std::string, Slot<T>> slots;  // by parameter
  Tensors<T> frozen;                     // parameters that stand still
  Tensors<T> running_mean, running_var;  // by layer name; a row, or one for each rank that keeps its own
  std::int64_t step = 0;                 // optimizer steps really taken
  Scale<T> scale{};
};

template <class T>
struct WindowAnswer {
  T loss, loss_scale, learning_rate, grad_norm, clip_coefficient;
  bool skipped = false, loss_is_nan = false;  // N = 0: the loss is "nan"
  Tensors<T> grad;                            // after unscaling, before clipping
  State<T> after;
};

/// What a judge read from a trace for one window; empty in `tally oracle`.
struct WindowDecisions {
  bool skipped = false;
  std::map<std::string, Decisions> layers;  // by layer label, all rows of the window
};

template <class T>
State<T> initial_state(const Case& c);

template <class T>
WindowAnswer<T> evaluate_window(const Case& c, std::size_t window, Branch branch, const State<T>& before,
                                const WindowDecisions& decisions = {});

/// All windows of a branch.
template <class T>
std::vector<WindowAnswer<T>> trajectory(const Case& c, Branch branch);

// Trajectories in balls of fixed size, which take a small part of the time of Arb's, for those who read Arb's.

/// What trajectory<Ball> encloses at any precision, the same numbers. Throws Undecided where 128 bits leave open what
/// the formulas ask.
std::vector<WindowAnswer<Ball>> short_trajectory(const Case& c, Branch branch);

// The rows of one window as the loss sees them: data, targets, weights, and the factor of each row's loss in the sum
// whose gradient the window wants.

template <class T>
struct WindowRows {
  std::int64_t first = 0, count = 0;  // rows of x
  Cut cut;                            // micro-batches: one group on the full batch
  std::vector<std::size_t> steps;     // of ranks: the micro-step of each of them; empty on the full batch
  Matrix<T> x, target;                // x [rows, 1] of tokens; target [1, rows] of classes, as scored
  Matrix<T> positions;                // [rows, 1], of a model that reads them; else empty
  Matrix<T> places;                   // in their sequences, [rows, 1], of a model that reads these; else empty
  Matrix<T> item_weight, row_factor;  // [1, rows]; the factor is 1 / divisor, 0 where the divisor is 0
  T items;                            // N
};

template <class T>
WindowRows<T> window_rows(const Case& c, std::size_t window, Branch branch);

// Forward through the model, the loss, and backward, over all rows of a window at once.

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
