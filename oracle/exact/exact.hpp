// Exact mathematics over any scalar: layers and losses, differentiated from the definition, and the window's stages
// after the buffer is full. Defined in registered_exact.cpp, oracle/window/clip_exact.cpp,
// oracle/window/divisor_exact.cpp, oracle/window/running_statistics_exact.cpp, oracle/window/scaler_exact.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle {

// Exact mathematics of layers and losses: differentiated from the definition, free of rounding up to the scalar T.
// Instantiated for Ball (proven enclosures: `tally oracle`), ShortBall (the same of 128 bits, fast), Real (any number
// of digits) and long double (the lenses).

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

// The window's stages after the buffer is full, exactly: unscale, norm, clip, decay, optimizer, schedule, scaler. Each
// is a function of its own inputs, so that the lenses can call it on a subject's bits. T is Real or long double.
// Formulas are numbered in the files that define them. What a kind does is its own file's (oracle/recipe); a kind that
// has none there is a std::logic_error, which names the section and the kind.

/// The divisor of micro-batch k of window w, (divisor.1): what item gradient sums are divided by, with (divisor.2).
template <class T>
T divisor(const Case& c, std::size_t window, std::size_t micro_batch);

/// N: the sum of the item weights of a window, the full batch's divisor.
template <class T>
T window_items(const Case& c, std::size_t window);

/// n_k: the sum of the item weights of micro-batch k.
template <class T>
T micro_batch_items(const Case& c, std::size_t window, std::size_t micro_batch);

template <class T>
T learning_rate(const Choice& schedule, std::int64_t step);

/// The p of a p-norm.
enum class NormOrder { one, two, largest };
/// What `clip` asks for; two where it does not clip by norm.
NormOrder norm_of(const Choice& clip);

/// The p-norm that `clip` asks for, tensor by tensor or some rows at a time.
template <class T>
class GradientNorm {
 public:
  explicit GradientNorm(const Choice& clip) : order_(norm_of(clip)) {}
  void add(const Matrix<T>& gradient);
  T of_all() const;

 private:
  NormOrder order_;
  T sum_ = 0;
};

/// That norm over all parameters.
template <class T>
T gradient_norm(const Choice& clip, const Tensors<T>& gradients);

/// What the norm scales every gradient by; 1 where it does not clip by norm.
template <class T>
T clip_coefficient(const Choice& clip, const T& norm, std::int64_t step);

/// The clipped gradient.
template <class T>
Matrix<T> clipped(const Choice& clip, const T& coefficient, const Matrix<T>& gradient);

/// False for parameters that weight_decay excludes ("bias", "norm", or by name), and where there is none.
bool decays(const Model& model, const Choice& weight_decay, std::string_view parameter);

/// What the decay goes into, before the update: the clipped gradient where decays_gradient says so (`rate` is not
/// read), else the parameter (`gradient` is not read).
template <class T>
Matrix<T> decayed(const Choice& weight_decay, const T& rate, const Matrix<T>& gradient, const Matrix<T>& parameter);

/// One parameter and its optimizer state, in the order of state_of(optimizer). Empty matrices where there is none yet.
template <class T>
struct Slot {
  Matrix<T> parameter;
  std::vector<Matrix<T>> state = {};
};

/// The update of one parameter by its (clipped, decayed) gradient at step t (the first is 0), by the optimizer's record
/// (oracle/exact/registered_exact.hpp).
template <class T>
Slot<T> updated(const Choice& optimizer, const T& rate, std::int64_t step, const Matrix<T>& gradient,
                const Slot<T>& slot);

/// Running statistics after one update: (running_statistics.1) and (running_statistics.2).
template <class T>
Matrix<T> running_mean(const Layer& layer, const Matrix<T>& running, const Matrix<T>& mean);
template <class T>
Matrix<T> running_var(const Layer& layer, const Matrix<T>& running, const Matrix<T>& biased_var, std::int64_t rows);

/// The scaler's state after a window.
template <class T>
struct Scale {
  T scale;
  std::int64_t growth_counter;
};
template <class T>
Scale<T> next_scale(const Choice& loss_scale, const Scale<T>& now, bool found_non_finite);
/// The scale and counter a case starts with; scale 1 where the loss is not scaled.
template <class T>
Scale<T> initial_scale(const Choice& loss_scale);

}  // namespace tally::oracle
