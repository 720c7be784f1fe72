// rms_norm from the rstd that the subject left: (rms_norm.2), one operation a line as kernels/arithmetic.md writes it.
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/predicted_layer.hpp"

namespace tally::oracle::rms_norm_predicted {
namespace {

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics& statistics) {
  const Matrix<float>& rstd = statistics.rstd;
  if (!as_written(pass.declared, "rms_norm.forward") || rstd.size() != x.rows()) return {};
  const bool affine = pass.tensors.contains("weight");
  const Matrix<float> weight = affine ? held(pass.tensors.at("weight")) : Matrix<float>();
  const float offset = held(pass.layer.number("offset"));
  return of_each(x.rows(), x.cols(), [&](Eigen::Index i) {
    const Eigen::Index row = i / x.cols(), column = i % x.cols();
    float value = x.data()[i] * rstd.data()[row];
    if (affine) {
      const float scale = offset + weight.data()[column];
      value = value * scale;
    }
    return stored(pass.declared.storage, value);
  });
}

const RegisterPredictedRule registered("rms_norm", {y, nullptr, nullptr});

}  // namespace
}  // namespace tally::oracle::rms_norm_predicted
