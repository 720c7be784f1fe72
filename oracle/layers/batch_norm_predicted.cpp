// batch_norm from the statistics that the subject left: (batch_norm.3), (batch_norm.4) and, frozen, (batch_norm.7), one
// operation a line as kernels/arithmetic.md writes them.
#include "oracle/tolerance/predicted_layer.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::batch_norm_predicted {
namespace {

bool frozen(const BoundPass& pass) { return pass.layer.text("statistics") == "frozen"; }

bool one_a_feature(const Matrix<float>& statistic, Eigen::Index features) { return statistic.size() == features; }

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics& statistics) {
  const Matrix<float>&mean = statistics.mean, &rstd = statistics.rstd;
  const bool known_here = one_a_feature(mean, x.cols()) && one_a_feature(rstd, x.cols());
  if (!as_written(pass.declared, "batch_norm.forward") || !known_here) return {};
  const bool affine = pass.tensors.contains("weight");
  const Matrix<float> weight = affine ? held(pass.tensors.at("weight")) : Matrix<float>();
  const Matrix<float> bias = affine ? held(pass.tensors.at("bias")) : Matrix<float>();
  return of_each(x.rows(), x.cols(), [&](Eigen::Index i) {
    const Eigen::Index column = i % x.cols();
    const float centred = x.data()[i] - mean.data()[column];
    float value = centred * rstd.data()[column];
    if (affine) {
      const float scaled = value * weight.data()[column];
      value = scaled + bias.data()[column];
    }
    return stored(pass.declared.storage, value);
  });
}

Prediction rstd(const BoundPass& pass, const Statistics& statistics) {
  const char* operation = frozen(pass) ? "batch_norm.frozen_statistics" : "batch_norm.statistics";
  const bool by_function = claim_of(pass.declared, operation).rsqrt;
  if (!as_written(pass.declared, operation) || by_function || statistics.var.size() == 0) return {};
  const float eps = held(pass.layer.number("eps"));
  return of_each(statistics.var.rows(), statistics.var.cols(), [&](Eigen::Index i) {
    const float root = std::sqrt(statistics.var.data()[i] + eps);
    return 1 / root;
  });
}

Prediction dx(const BoundPass& pass, const Statistics& statistics, const Matrix<float>& dy) {
  const bool known_here = one_a_feature(statistics.rstd, dy.cols());
  if (!frozen(pass) || !as_written(pass.declared, "batch_norm.backward_frozen") || !known_here) return {};
  Matrix<float> scale = statistics.rstd;
  if (pass.tensors.contains("weight")) scale = held(pass.tensors.at("weight")).cwiseProduct(scale);
  return of_each(dy.rows(), dy.cols(), [&](Eigen::Index i) {
    return stored(pass.declared.storage, scale.data()[i % dy.cols()] * dy.data()[i]);
  });
}

const RegisterPredictedRule registered("batch_norm", {y, rstd, dx});

}  // namespace
}  // namespace tally::oracle::batch_norm_predicted
