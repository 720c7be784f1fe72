// scale: (scale.1) and (scale.2) as one product with the factor, a number of the case rounded to fp32, stored.
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::scale_bound {
namespace {

BoundedMatrix scaled(const BoundPass& pass, const Expected& in) {
  const Arithmetic fp32 = single(), storage(pass.declared.storage);
  const Bounded factor = constant(pass.layer.number("factor"));
  BoundedMatrix out(in);
  for (Eigen::Index i = 0; i < out.rows(); ++i)
    for (Eigen::Index j = 0; j < out.cols(); ++j) out.set(i, j, storage.store(fp32.mul(out.at(i, j), factor)));
  return out;
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return {joined([&] { return exact_forward(pass, x).y; }, scaled(pass, x)), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return {joined([&] { return exact_backward(pass, x, dy).dx; }, scaled(pass, dy)), {}};
}

const RegisterBoundRule registered("scale", {forward, backward});

}  // namespace
}  // namespace tally::oracle::scale_bound
