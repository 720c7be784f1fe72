// mse: (mse.1) and (mse.2) by the operations of kernels/arithmetic.md.
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/tolerance/shared_addends.hpp"

namespace tally::oracle::mse_bound {
namespace {

Bounded two_over(const Declared& declared, double features) {
  const long double exact = 2 / static_cast<long double>(features);
  return derived_constant(declared, exact, single().div({2, 0}, {features, 0}));
}

ExpectedLoss evaluate(const Choice& loss, const Declared& declared, const Expected& y,
                      const Matrix<long double>& target, const Matrix<long double>& item_weight,
                      const Expected& row_factor) {
  const Arithmetic fp32 = single(), storage(declared.storage);
  const auto features = static_cast<double>(y.v.cols());
  const KernelClaim& claim = claim_of(declared, "mse");
  const Bounded share = reciprocal(declared, features), slope = two_over(declared, features);
  const BoundedMatrix in(y), factor(row_factor);
  BoundedMatrix row_loss(1, in.rows()), dy(in.rows(), in.cols());
  if (counts_alike()) row_loss.sharing = repeated_in_columns(in.v - target.cast<double>(), fp32.u()).mean;
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
  const auto exact = exact_loss_of(loss, y, target, item_weight, row_factor);
  return {joined(exact.loss, row_loss), joined(exact.dy, dy)};
}

const RegisterLossBoundRule registered("mse", {evaluate});

}  // namespace
}  // namespace tally::oracle::mse_bound
