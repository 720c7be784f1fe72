// A row has F predictions y and targets t; w is the row's item weight, f its c_k of (divisor.2).
// (mse.1)  l = w (1/F) sum_j (y_j - t_j)²
// (mse.2)  dy_j = f w (2/F) (y_j - t_j)
// mse: (mse.1) and (mse.2) by the operations of kernels/arithmetic.md.
#include "oracle/case/contract.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/tolerance/summation.hpp"

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

namespace tally::oracle::mse_kind {
namespace {

template <class T>
LossResult<T> evaluate(const Choice&, const Matrix<T>& y, const Matrix<T>& target, const Matrix<T>& item_weight,
                       const Matrix<T>& row_factor) {
  const T features = static_cast<double>(y.cols());
  LossResult<T> result{Matrix<T>::Zero(1, y.rows()), Matrix<T>(y.rows(), y.cols())};
  for (Eigen::Index r = 0; r < y.rows(); ++r) {
    for (Eigen::Index c = 0; c < y.cols(); ++c) {
      const T difference = y(r, c) - target(r, c);
      result.loss(r) += difference * difference;
      result.dy(r, c) = 2 * difference / features * item_weight(r) * row_factor(r);
    }
    result.loss(r) = result.loss(r) / features * item_weight(r);
  }
  return result;
}

const Contract contract{.kind = "mse",
                        .options = {{.name = "item_weights", .type = OptionType::boolean, .standard = false}},
                        .definition = "l = mean over features of (y - t)^2, weighed by item_weight when asked"};

Bounded two_over(const Declared& declared, double features) {
  const long double exact = 2 / static_cast<long double>(features);
  return derived_constant(declared, exact, single(declared).div({2, 0}, {features, 0}));
}

ExpectedLoss evaluate(const Choice& loss, const Declared& declared, const Expected& y,
                      const Matrix<long double>& target, const Matrix<long double>& item_weight,
                      const Expected& row_factor) {
  const Arithmetic fp32 = single(declared), storage(declared, declared.storage);
  const auto features = static_cast<double>(y.v.cols());
  const KernelClaim& claim = claim_of(declared, "mse");
  const Bounded share = reciprocal(declared, features), slope = two_over(declared, features);
  const BoundedMatrix in(declared, y), factor(declared, row_factor);
  BoundedMatrix row_loss(1, in.rows()), dy(in.rows(), in.cols());
  if (declared.counts_alike()) row_loss.sharing = repeated_in_columns(in.v - target.cast<double>(), fp32.u()).mean;
  for (Eigen::Index i = 0; i < in.rows(); ++i) {
    const Bounded weight = constant(item_weight(0, i));  // an integer, converted to the nearest float
    const Bounded scale = shared(fp32.mul(factor.at(0, i), weight));
    Addends squares = addends_of(claim);
    for (Eigen::Index j = 0; j < in.cols(); ++j) {
      const Bounded d = fp32.sub(in.at(i, j), {static_cast<double>(target(i, j)), 0});
      squares.add_apart(fp32.mul(d, d));
      dy.set(i, j, storage.store(fp32.mul(scale, fp32.mul(d, slope))));
    }
    row_loss.set(0, i, fp32.mul(fp32.mul(sum_of(fp32, claim, squares), share), weight));
  }
  const auto exact = exact_loss_of(loss, declared, y, target, item_weight, row_factor);
  return {joined(declared, exact.loss, row_loss), joined(declared, exact.dy, dy)};
}

const Register<LossDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactLoss<T> { return {evaluate<T>}; }, {evaluate}}};

}  // namespace
}  // namespace tally::oracle::mse_kind
