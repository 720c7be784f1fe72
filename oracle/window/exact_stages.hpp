// The window's stages after the buffer is full, exactly: unscale, norm, clip, decay, optimizer, schedule, scaler.
// Each is a function of its own inputs, so that the lenses can call it on a subject's bits. T is Real or long double.
// Formulas are numbered in the files that define them. What a kind does is its own file's (oracle/recipe); a kind that
// has none there is a std::logic_error, which names the section and the kind.
// Defined in oracle/recipe/exact_optimizers.cpp, clip_exact.cpp, decay_exact.cpp, divisor_exact.cpp,
// running_statistics_exact.cpp, scaler_exact.cpp, schedule_exact.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/real/matrix.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle {

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
T clip_coefficient(const Choice& clip, const T& norm);

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
/// (oracle/recipe/register_exact_recipe.hpp).
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
