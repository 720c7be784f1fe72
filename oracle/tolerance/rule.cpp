#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {
namespace {

Tensors<long double> values_of(const ExpectedTensors& tensors) {
  Tensors<long double> values;
  for (const auto& [name, tensor] : tensors) values.emplace(name, tensor.v);
  return values;
}

}  // namespace

Expected joined(Matrix<long double> exact, BoundedMatrix bound) {
  if (bounds_only()) {
    return {bound.v.cast<long double>(), std::move(bound.e), std::move(bound.r), std::move(bound.s)};
  }
  Expected result{std::move(exact), std::move(bound.e), std::move(bound.r), std::move(bound.s)};
  for (Eigen::Index i = 0; i < result.v.size(); ++i) {
    const double v = bound.v.data()[i];
    if (!std::isfinite(v)) {
      result.v.data()[i] = v;
    } else if (!std::isfinite(static_cast<double>(result.v.data()[i]))) {
      result.e.data()[i] = infinite;
    }
  }
  return result;
}

ExactPass::ExactPass(const BoundPass& pass)
    : values_(values_of(pass.tensors)), pass_{pass.layer, values_, pass.cut, pass.decisions, pass.gives_dx} {}

ForwardResult<long double> exact_forward(const BoundPass& pass, const Expected& x) {
  if (bounds_only()) return {};
  return exact_layer<long double>(pass.layer.kind).forward(ExactPass(pass).get(), x.v);
}

BackwardResult<long double> exact_backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  if (!bounds_only()) return exact_layer<long double>(pass.layer.kind).backward(ExactPass(pass).get(), x.v, dy.v);
  BackwardResult<long double> none;
  for (const auto& [name, tensor] : pass.tensors) none.parameters[name];
  return none;
}

LossResult<long double> exact_loss_of(const Choice& loss, const Expected& y, const Matrix<long double>& target,
                                      const Matrix<long double>& item_weight, const Expected& row_factor) {
  if (bounds_only()) return {};
  return exact_loss<long double>(loss.kind).evaluate(loss, y.v, target, item_weight, row_factor.v);
}

const KernelClaim& claim_of(const Declared& subject, std::string_view operation) {
  static const KernelClaim standard{};
  const auto found = subject.claims.kernels.find(std::string(operation));
  return found == subject.claims.kernels.end() ? standard : found->second;
}

}  // namespace tally::oracle
