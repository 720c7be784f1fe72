// Clip coefficient, weight decay and running statistics, bit by bit.
#include "oracle/window/predicted_stages.hpp"

#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {
namespace {

/// fl(fl(fl(1 - m) r) + fl(fl(m) fl(batch correction))), stored.
Prediction moved(const Declared& subject, const Layer& layer, const Matrix<float>& running, const Matrix<float>& batch,
                 HeldConstant correction) {
  const HeldConstant keep = held_one_minus(subject, layer.number("momentum"));
  if (!as_written(subject, "running_stats") || !keep || !correction) return {};
  const float take = held(layer.number("momentum"));
  return of_each(running.rows(), running.cols(), [&](Eigen::Index i) {
    const float value = batch.data()[i] * *correction;
    const float kept = *keep * running.data()[i];
    const float taken = take * value;
    return stored(subject.master, kept + taken);
  });
}

}  // namespace

Prediction predicted_coefficient(const Declared& subject, const Choice& clip, float norm) {
  if (!as_written(subject, "clip_coefficient")) return {};
  const float divisor = norm + held(clip.number("epsilon"));
  const float ratio = held(clip.number("max_norm")) / divisor;
  return Matrix<float>::Constant(1, 1, divisor == 0 || ratio > 1 ? 1 : ratio);
}

Prediction predicted_l2_gradient(const Declared& subject, const Choice& decay, const Matrix<float>& gradient,
                                 const Matrix<float>& parameter) {
  if (!as_written(subject, "decay.l2")) return {};
  const float lambda = held(decay.number("lambda"));
  return of_each(gradient.rows(), gradient.cols(), [&](Eigen::Index i) {
    const float decayed = lambda * parameter.data()[i];
    return gradient.data()[i] + decayed;
  });
}

Prediction predicted_decoupled_parameter(const Declared& subject, const Choice& decay, const Choice& schedule,
                                         std::int64_t step, const Matrix<float>& parameter) {
  const auto rate = learning_rate<long double>(schedule, step), lambda = number<long double>(decay.number("lambda"));
  const long double margin =
      (1 + std::fabs(rate * lambda)) * 0x1p-51L + std::fabs(lambda) * margin_of_rate(schedule, rate, step);
  const HeldConstant kept = held(subject, 1 - rate * lambda, margin);
  if (!as_written(subject, "decay.decoupled") || !kept) return {};
  return of_each(parameter.rows(), parameter.cols(),
                 [&](Eigen::Index i) { return stored(subject.master, parameter.data()[i] * *kept); });
}

Prediction predicted_running_mean(const Declared& subject, const Layer& layer, const Matrix<float>& running,
                                  const Matrix<float>& mean) {
  return moved(subject, layer, running, mean, 1.0F);
}

Prediction predicted_running_var(const Declared& subject, const Layer& layer, const Matrix<float>& running,
                                 const Matrix<float>& biased_var, std::int64_t rows) {
  if (rows < 2) return {};
  const long double correction = static_cast<long double>(rows) / static_cast<long double>(rows - 1);
  return moved(subject, layer, running, biased_var, held(subject, correction, correction * 0x1p-49L));
}

}  // namespace tally::oracle
