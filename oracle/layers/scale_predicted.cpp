// scale: (scale.1) and (scale.2) bit by bit, one product as kernels/arithmetic.md writes it.
#include "oracle/tolerance/predicted_layer.hpp"

namespace tally::oracle::scale_predicted {
namespace {

Prediction scaled(const BoundPass& pass, const Matrix<float>& in, std::string_view operation) {
  if (!as_written(pass.declared, operation)) return {};
  const auto factor = static_cast<float>(pass.layer.number("factor").to_double());
  return of_each(in.rows(), in.cols(),
                 [&](Eigen::Index i) { return stored(pass.declared.storage, in.data()[i] * factor); });
}

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics&) {
  return scaled(pass, x, "scale.forward");
}

Prediction dx(const BoundPass& pass, const Statistics&, const Matrix<float>& dy) {
  return scaled(pass, dy, "scale.backward");
}

const RegisterPredictedRule registered("scale", {y, nullptr, dx});

}  // namespace
}  // namespace tally::oracle::scale_predicted
