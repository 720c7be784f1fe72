// layer_norm: (layer_norm.1), (layer_norm.2) and (layer_norm.3) by the claimed algorithm (oracle/tolerance/moments),
// then (layer_norm.4); (layer_norm.5) through the same rounded statistics, (layer_norm.6) as column sums. Operations
// and their order are those of kernels/arithmetic.md.
#include <cmath>

#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/tolerance/moments.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle::layer_norm_bound {
namespace {

Moments moments(const BoundPass& pass, const BoundedMatrix& x, Eigen::Index row) {
  std::vector<Bounded> features;
  for (Eigen::Index j = 0; j < x.cols(); ++j) features.push_back(x.at(row, j));
  const KernelClaim& claim = claim_of(pass.declared, "layer_norm.forward");
  return sample_moments(pass.declared, claim, features, constant(pass.layer.number("eps")));
}

Bounded normalised(const Arithmetic& fp32, Bounded x, const Moments& m) {
  return fp32.mul(fp32.sub(x, m.mean), m.rstd);
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const Arithmetic fp32 = single(), storage(pass.declared.storage);
  const BoundedMatrix in(x);
  const bool affine = pass.tensors.contains("weight");
  const BoundedMatrix weight(affine ? pass.tensors.at("weight") : Expected{});
  const BoundedMatrix bias(affine ? pass.tensors.at("bias") : Expected{});
  BoundedMatrix y(in.rows(), in.cols()), mean(in.rows(), 1), var(in.rows(), 1), rstd(in.rows(), 1);
  for (Eigen::Index i = 0; i < in.rows(); ++i) {
    const Moments m = moments(pass, in, i);
    mean.set(i, 0, m.mean);
    var.set(i, 0, m.var);
    rstd.set(i, 0, m.rstd);
    for (Eigen::Index j = 0; j < in.cols(); ++j) {
      Bounded value = normalised(fp32, in.at(i, j), m);
      if (affine) value = fp32.add(fp32.mul(value, weight.at(0, j)), bias.at(0, j));
      y.set(i, j, storage.store(value));
    }
  }
  const auto exact = exact_forward(pass, x);
  const auto eps = number<long double>(pass.layer.number("eps"));
  return {joined(exact.y, y), joined(exact.mean, mean), joined(exact.var, var),
          joined((exact.var.array() + eps).sqrt().inverse().matrix(), rstd)};
}

/// Of a kernel that says nothing of itself, and may be PyTorch's: dx = a g + b x + c with a = r, b = (mean sum g - sum g x)
/// r^3 / n, c = -b mean - r sum g / n. Its sums are of x and not of h, so that they cancel where the mean is large, and
/// b underflows before it is multiplied. `magnitude` is sum |g| (|x| + |mean|).
double error_by_moments(Bounded x, const Moments& m, double magnitude, double n) {
  const Arithmetic fp32 = single();
  if (!(magnitude < fp32.threshold())) return infinite;
  const double r = std::fabs(m.rstd.v) + m.rstd.e, mean = std::fabs(m.mean.v) + m.mean.e;
  const double size = std::fabs(x.v) + x.e + mean, factors = (1 + r) * (1 + r) * (1 + r);
  return gam(n + 8, fp32.u()) * magnitude * r * r * r / n * size + 8 * fp32.underflow() * factors * (1 + size);
}

/// dx of one row, and that row's fl(dy h) for the weight's gradient.
void row_backward(const BoundPass& pass, const BoundedMatrix& x, const BoundedMatrix& dy, const BoundedMatrix& weight,
                  Eigen::Index i, BoundedMatrix& dx, BoundedMatrix& dy_h) {
  const Arithmetic fp32 = single(), storage(pass.declared.storage);
  const KernelClaim& claim = claim_of(pass.declared, "layer_norm.backward");
  const Moments m = moments(pass, x, i);
  const auto gradient = [&](Eigen::Index j) {
    return weight.cols() == 0 ? dy.at(i, j) : fp32.mul(dy.at(i, j), weight.at(0, j));
  };
  Addends sum_g = addends_of(claim), sum_g_h = addends_of(claim);
  double magnitude = 0;
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    const Bounded g = gradient(j), at = x.at(i, j);
    magnitude += (std::fabs(g.v) + g.e) * (std::fabs(at.v) + at.e + std::fabs(m.mean.v) + m.mean.e);
    const Bounded h = normalised(fp32, x.at(i, j), m);
    sum_g.add(gradient(j));
    sum_g_h.add(fp32.mul(gradient(j), h));
    dy_h.set(i, j, fp32.mul(dy.at(i, j), h));
  }
  const Bounded inverse = reciprocal(pass.declared, static_cast<double>(x.cols()));
  const Bounded m1 = shared(fp32.mul(sum_of(fp32, claim, sum_g), inverse));
  const Bounded m2 = shared(fp32.mul(sum_of(fp32, claim, sum_g_h), inverse));
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    const Bounded h = normalised(fp32, x.at(i, j), m);
    const Bounded centred = fp32.sub(fp32.sub(gradient(j), m1), fp32.mul(h, m2));
    Bounded value = fp32.mul(m.rstd, centred);
    if (claim.variant.empty()) value.e += error_by_moments(x.at(i, j), m, magnitude, static_cast<double>(x.cols()));
    dx.set(i, j, storage.store(value));
  }
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const BoundedMatrix in(x), gradient(dy);
  const bool affine = pass.tensors.contains("weight");
  const BoundedMatrix weight(affine ? pass.tensors.at("weight") : Expected{});
  BoundedMatrix dx(in.rows(), in.cols()), dy_h(in.rows(), in.cols());
  for (Eigen::Index i = 0; i < in.rows(); ++i) row_backward(pass, in, gradient, weight, i, dx, dy_h);
  const auto exact = exact_backward(pass, x, dy);
  ExpectedBackward result{joined(exact.dx, dx), {}};
  if (!affine) return result;
  const KernelClaim& sums = claim_of(pass.declared, "layer_norm.parameter_gradients");
  const Format& storage = pass.declared.storage;
  result.parameters["weight"] = joined(exact.parameters.at("weight"), stored(storage, column_sums(dy_h, sums)));
  result.parameters["bias"] = joined(exact.parameters.at("bias"), stored(storage, column_sums(gradient, sums)));
  return result;
}

const RegisterBoundRule registered("layer_norm", {forward, backward});

}  // namespace
}  // namespace tally::oracle::layer_norm_bound
