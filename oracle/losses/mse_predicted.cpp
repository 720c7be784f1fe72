#include "oracle/tolerance/predicted_layer.hpp"

namespace tally::oracle {

Prediction predicted_mse_gradient(const Declared& declared, const Matrix<float>& y, const Matrix<float>& target,
                                  const Matrix<long double>& item_weight, float factor) {
  const long double exact = 2 / static_cast<long double>(y.cols());
  const HeldConstant slope = held(declared, exact, exact * 0x1p-49L);
  if (!as_written(declared, "mse") || !slope) return {};
  return of_each(y.rows(), y.cols(), [&](Eigen::Index i) {
    const float row_factor = factor * static_cast<float>(item_weight.data()[i / y.cols()]);
    const float distance = y.data()[i] - target.data()[i];
    const float sloped = distance * *slope;
    return stored(declared.storage, row_factor * sloped);
  });
}

}  // namespace tally::oracle
