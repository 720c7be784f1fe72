// dropout: (dropout.1) and (dropout.2) bit by bit, one product with a constant as kernels/arithmetic.md writes them.
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/predicted_layer.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle::dropout_predicted {
namespace {

Prediction scaled(const BoundPass& pass, const Matrix<float>& in, std::string_view operation) {
  const long double exact = 1 / (1 - number<long double>(pass.layer.number("p")));
  const HeldConstant factor = held(pass.declared, exact, exact * of_inverse(exact * 0x1p-51L));
  if (!as_written(pass.declared, operation) || !factor) return {};
  const auto& mask = pass.tensors.at("mask").v;
  return of_each(in.rows(), in.cols(), [&](Eigen::Index i) {
    return mask.data()[i] != 0 ? stored(pass.declared.storage, in.data()[i] * *factor) : 0.0F;
  });
}

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics&) {
  return scaled(pass, x, "dropout.forward");
}

Prediction dx(const BoundPass& pass, const Statistics&, const Matrix<float>& dy) {
  return scaled(pass, dy, "dropout.backward");
}

const RegisterPredictedRule registered("dropout", {y, nullptr, dx});

}  // namespace
}  // namespace tally::oracle::dropout_predicted
