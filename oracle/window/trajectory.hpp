// The composed oracle: whole windows, one after another, exactly. `tally oracle` prints it; the end-to-end lens and the
// drift figures start from it.
#pragma once

#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/layers/exact.hpp"
#include "oracle/real/matrix.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {

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

}  // namespace tally::oracle
