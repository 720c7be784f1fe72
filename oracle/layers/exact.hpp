// Exact mathematics of layers and losses: differentiated from the definition, free of rounding up to the scalar T.
// Instantiated for Ball (proven enclosures: `tally oracle`), ShortBall (the same of 128 bits, fast), Real (any number
// of digits) and long double (the lenses).
// Defined in exact_registry.cpp.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/real/matrix.hpp"

namespace tally::oracle {

/// Groups of consecutive rows that `micro_batch` statistics normalise together; sums to the rows of x. Layers without
/// statistics ignore it, and `window` statistics treat all rows as one group.
using Cut = std::vector<std::int64_t>;

/// Decisions read from a trace, replayed instead of taken. Empty in `tally oracle`.
struct Decisions {
  std::optional<Matrix<double>> relu_active;  // [rows, features] of 0 and 1
};

/// One layer as it stands over some rows of one window.
template <class T>
struct Pass {
  const Layer& layer;
  const Tensors<T>&
      tensors;  // by short name: "weight", "bias", "running_mean", "running_var", "mask"; "places", of each row in its sequence (these rows only)
  Cut cut;
  Decisions decisions = {};
  bool gives_dx = true;                       // else dx may be left out
  std::vector<const Matrix<T>*> others = {};  // the inputs behind the first, of a layer that reads several
  std::vector<std::size_t> steps = {};        // of ranks: the micro-step of each part of the cut; else each is one
};

/// What forward leaves: y [rows, features out]; for batch_norm the statistics of each group of the cut, [groups,
/// features] (var biased); for layer_norm mean and var are [rows, 1]. Otherwise empty. lse: of attention, [rows,
/// heads].
template <class T>
struct ForwardResult {
  Matrix<T> y, mean, var;
  Matrix<T> lse = {};
};

/// dx [rows, features in], and the gradient of each parameter by short name, summed over these rows. more_dx: of a
/// layer whose inputs are not alike those of the inputs behind the first. delta: of attention, [rows, heads].
template <class T>
struct BackwardResult {
  Matrix<T> dx;
  Tensors<T> parameters;
  std::vector<Matrix<T>> more_dx = {};
  Matrix<T> delta = {};
};

template <class T>
struct ExactLayer {
  ForwardResult<T> (*forward)(const Pass<T>& pass, const Matrix<T>& x);
  /// The gradient of <dy, y> with respect to x and the parameters, from x alone (nothing saved by forward).
  BackwardResult<T> (*backward)(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy);
};

/// A loss over rows. y [rows, features]; `row_factor` [1, rows] multiplies each row's loss in the sum whose gradient is
/// dy. loss [1, rows] is each row's own loss (0 when ignored), before the factor.
template <class T>
struct LossResult {
  Matrix<T> loss, dy;
};

template <class T>
struct ExactLoss {
  /// target: cross_entropy class numbers as T in [1, rows]; mse [rows, features]. item_weight [1, rows].
  LossResult<T> (*evaluate)(const Choice& loss, const Matrix<T>& y, const Matrix<T>& target,
                            const Matrix<T>& item_weight, const Matrix<T>& row_factor);
};

/// T is Real, long double, Ball or ShortBall. Throws std::logic_error for a kind without mathematics.
template <class T>
const ExactLayer<T>& exact_layer(std::string_view kind);
template <class T>
const ExactLoss<T>& exact_loss(std::string_view kind);

}  // namespace tally::oracle
