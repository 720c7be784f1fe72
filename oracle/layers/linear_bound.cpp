// linear: the product of (linear.1) stored in the GEMM's result format, then fl(z + b), stored; (linear.2) and
// (linear.3) are a GEMM each, (linear.4) is a column sum.
#include "oracle/tolerance/gemm.hpp"

namespace tally::oracle {
namespace {

/// The format a GEMM's result is rounded to before the bias is added: storage, unless the claim fuses the bias.
Format result_format(const Declared& declared) {
  const auto claim = declared.claims.kernels.find("gemm");
  return claim == declared.claims.kernels.end() ? declared.storage : format_of(claim->second.result);
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const Declared& declared = pass.declared;
  const auto bias = pass.tensors.find("bias");
  BoundedMatrix z = product(declared, BoundedMatrix(x), transposed(pass.tensors.at("weight")));
  z = stored(bias == pass.tensors.end() ? declared.storage : result_format(declared), std::move(z));
  if (bias != pass.tensors.end()) {
    const Arithmetic fp32 = single();
    const BoundedMatrix b(bias->second);
    for (Eigen::Index i = 0; i < z.rows(); ++i) {
      for (Eigen::Index j = 0; j < z.cols(); ++j) z.set(i, j, fp32.add(z.at(i, j), b.at(0, j)));
    }
    z = stored(declared.storage, std::move(z));
  }
  return {joined(exact_forward(pass, x).y, std::move(z)), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const Declared& declared = pass.declared;
  auto exact = exact_backward(pass, x, dy);
  const BoundedMatrix input(x), gradient(dy), weight(pass.tensors.at("weight"));
  ExpectedBackward result;
  if (pass.gives_dx) result.dx = joined(exact.dx, stored(declared.storage, product(declared, gradient, weight)));
  BoundedMatrix dw = stored(declared.storage, product(declared, transposed(dy), input));
  result.parameters["weight"] = joined(std::move(exact.parameters.at("weight")), std::move(dw));
  if (pass.tensors.contains("bias")) {
    const KernelClaim& claim = claim_of(declared, "linear.bias_gradient");
    const BoundedMatrix sums = column_sums(gradient, claim);
    const BoundedMatrix db = stored(declared.storage, sums);
    result.parameters["bias"] = joined(exact.parameters.at("bias"), db);
  }
  return result;
}

const RegisterBoundRule registered("linear", {forward, backward});

}  // namespace
}  // namespace tally::oracle
