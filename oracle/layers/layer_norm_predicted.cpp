// layer_norm from the statistics that the subject left: (layer_norm.4), one operation a line as kernels/arithmetic.md
// writes it.
#include "oracle/tolerance/predicted_layer.hpp"

namespace tally::oracle::layer_norm_predicted {
namespace {

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics& statistics) {
  const Matrix<float>&mean = statistics.mean, &rstd = statistics.rstd;
  const bool known_here = mean.size() == x.rows() && rstd.size() == x.rows();
  if (!as_written(pass.declared, "layer_norm.forward") || !known_here) return {};
  const bool affine = pass.tensors.contains("weight");
  const Matrix<float> weight = affine ? held(pass.tensors.at("weight")) : Matrix<float>();
  const Matrix<float> bias = affine ? held(pass.tensors.at("bias")) : Matrix<float>();
  return of_each(x.rows(), x.cols(), [&](Eigen::Index i) {
    const Eigen::Index row = i / x.cols(), column = i % x.cols();
    const float centred = x.data()[i] - mean.data()[row];
    float value = centred * rstd.data()[row];
    if (affine) {
      const float scaled = value * weight.data()[column];
      value = scaled + bias.data()[column];
    }
    return stored(pass.declared.storage, value);
  });
}

const RegisterPredictedRule registered("layer_norm", {y, nullptr, nullptr});

}  // namespace
}  // namespace tally::oracle::layer_norm_predicted
