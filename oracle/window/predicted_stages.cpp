// Clip coefficient, weight decay and running statistics, bit by bit.
#include "oracle/window/predicted_stages.hpp"

#include "oracle/recipe/recipe_rules.hpp"

namespace tally::oracle {
namespace {

/// (running_statistics.1), or with the correction n / (n - 1) (running_statistics.2), one operation a line, stored.
Prediction predicted_moved(const Declared& declared, const Layer& layer, const Matrix<float>& running,
                           const Matrix<float>& batch, HeldConstant correction) {
  const HeldConstant keep = held_one_minus(declared, layer.number("momentum"));
  if (!as_written(declared, "running_stats") || !keep || !correction) return {};
  const float take = held(layer.number("momentum"));
  return of_each(running.rows(), running.cols(), [&](Eigen::Index i) {
    const float value = batch.data()[i] * *correction;
    const float kept = *keep * running.data()[i];
    const float taken = take * value;
    return stored(declared.master, kept + taken);
  });
}

}  // namespace

Prediction predicted_coefficient(const Declared& declared, const Choice& clip, float norm) {
  return clip_rules(clip).predicted_coefficient(declared, clip, norm);
}

Prediction predicted_decayed(const Declared& declared, const Choice& decay, const Choice& schedule, std::int64_t step,
                             const Matrix<float>& gradient, const Matrix<float>& parameter) {
  return decay_rules(decay).predicted(declared, decay, schedule, step, gradient, parameter);
}

Prediction predicted_running_mean(const Declared& declared, const Layer& layer, const Matrix<float>& running,
                                  const Matrix<float>& mean) {
  return predicted_moved(declared, layer, running, mean, 1.0F);
}

Prediction predicted_running_var(const Declared& declared, const Layer& layer, const Matrix<float>& running,
                                 const Matrix<float>& biased_var, std::int64_t rows) {
  if (rows < 2) return {};
  const long double correction = static_cast<long double>(rows) / static_cast<long double>(rows - 1);
  return predicted_moved(declared, layer, running, biased_var, held(declared, correction, correction * 0x1p-49L));
}

}  // namespace tally::oracle
