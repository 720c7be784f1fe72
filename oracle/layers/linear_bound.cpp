// linear: z = x W^T stored in the GEMM's result format, y = fl(z + b) stored. Backward: two GEMMs and a column sum.
#include "oracle/tolerance/gemm.hpp"

namespace tally::oracle {
namespace {

/// The format a GEMM's result is rounded to before the bias is added: storage, unless the claim fuses the bias.
Format result_format(const Declared& subject) {
  const auto claim = subject.claims.kernels.find("gemm");
  return claim == subject.claims.kernels.end() ? subject.storage : format_of(claim->second.result);
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const Declared& subject = pass.subject;
  const auto bias = pass.tensors.find("bias");
  BoundedMatrix z = product(subject, BoundedMatrix(x), transposed(pass.tensors.at("weight")));
  z = stored(bias == pass.tensors.end() ? subject.storage : result_format(subject), std::move(z));
  if (bias != pass.tensors.end()) {
    const Arithmetic fp32 = single();
    const BoundedMatrix b(bias->second);
    for (Eigen::Index i = 0; i < z.rows(); ++i) {
      for (Eigen::Index j = 0; j < z.cols(); ++j) z.set(i, j, fp32.add(z.at(i, j), b.at(0, j)));
    }
    z = stored(subject.storage, std::move(z));
  }
  return {joined(exact_forward(pass, x).y, std::move(z)), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const Declared& subject = pass.subject;
  auto exact = exact_backward(pass, x, dy);
  const BoundedMatrix input(x), gradient(dy), weight(pass.tensors.at("weight"));
  ExpectedBackward result;
  if (pass.gives_dx) result.dx = joined(exact.dx, stored(subject.storage, product(subject, gradient, weight)));
  BoundedMatrix dw = stored(subject.storage, product(subject, transposed(dy), input));
  result.parameters["weight"] = joined(std::move(exact.parameters.at("weight")), std::move(dw));
  if (pass.tensors.contains("bias")) {
    const KernelClaim& claim = claim_of(subject, "linear.bias_gradient");
    const BoundedMatrix sums = column_sums(gradient, claim);
    const BoundedMatrix db = stored(subject.storage, sums);
    result.parameters["bias"] = joined(exact.parameters.at("bias"), db);
  }
  return result;
}

const RegisterBoundRule registered("linear", {forward, backward});

}  // namespace
}  // namespace tally::oracle
