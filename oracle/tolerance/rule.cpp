#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {
namespace {

Tensors<long double> values_of(const ExpectedTensors& tensors) {
  Tensors<long double> values;
  for (const auto& [name, tensor] : tensors) values.emplace(name, tensor.v);
  return values;
}

}  // namespace

Expected joined(Matrix<long double> exact, const BoundedMatrix& bound) {
  Expected result{std::move(exact), bound.e, bound.r, bound.s};
  for (Eigen::Index i = 0; i < result.v.size(); ++i) {
    const double v = bound.v.data()[i];
    if (!std::isfinite(v)) {
      result.v.data()[i] = v;
    } else if (!std::isfinite(result.v.data()[i])) {
      result.e.data()[i] = infinite;
    }
  }
  return result;
}

ExactPass::ExactPass(const BoundPass& pass)
    : values_(values_of(pass.tensors)), pass_{pass.layer, values_, pass.cut, pass.decisions} {}

ForwardResult<long double> exact_forward(const BoundPass& pass, const Expected& x) {
  return exact_layer<long double>(pass.layer.kind).forward(ExactPass(pass).get(), x.v);
}

BackwardResult<long double> exact_backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return exact_layer<long double>(pass.layer.kind).backward(ExactPass(pass).get(), x.v, dy.v);
}

const KernelClaim& claim_of(const Declared& subject, std::string_view operation) {
  static const KernelClaim standard{};
  const auto found = subject.claims.kernels.find(std::string(operation));
  return found == subject.claims.kernels.end() ? standard : found->second;
}

}  // namespace tally::oracle
