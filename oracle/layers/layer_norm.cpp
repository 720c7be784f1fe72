// Row r has n features c; k runs over the row's features too. w and b hold an element a feature, 1 and 0 where
// the layer is not affine.
// (layer_norm.1)  mean_r = (1/n) sum_c x_rc
// (layer_norm.2)  var_r = (1/n) sum_c (x_rc - mean_r)²
// (layer_norm.3)  rstd_r = 1 / sqrt(var_r + eps)
// (layer_norm.4)  y_rc = h_rc w_c + b_c,  h_rc = (x_rc - mean_r) rstd_r
// (layer_norm.5)  dx_rc = rstd_r (g_rc - (1/n) sum_k g_rk - h_rc (1/n) sum_k g_rk h_rk),  g_rc = dy_rc w_c
// (layer_norm.6)  dw_c = sum_r dy_rc h_rc,  db_c = sum_r dy_rc
// The code of (layer_norm.5) is the chain rule through mean and var (standardise.hpp).
// layer_norm: (layer_norm.1), (layer_norm.2) and (layer_norm.3) by the claimed algorithm (oracle/tolerance/moments),
// then (layer_norm.4); (layer_norm.5) through the same rounded statistics, (layer_norm.6) as column sums. Operations
// and their order are those of kernels/arithmetic.md.
// layer_norm from the statistics that the subject left: (layer_norm.4), one operation a line as kernels/arithmetic.md
// writes it.
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/exact/standardise.hpp"
#include "oracle/real/number.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/tolerance/moments.hpp"
#include "oracle/tolerance/predicted_bits.hpp"

namespace tally::oracle::layer_norm_kind {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  const T eps = number<T>(pass.layer.number("eps"));
  const bool affine = pass.layer.flag("affine");
  ForwardResult<T> result{Matrix<T>(x.rows(), x.cols()), Matrix<T>(x.rows(), 1), Matrix<T>(x.rows(), 1)};
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    const Matrix<T> row = x.row(r);
    const ExactMoments<T> m = moments(row);
    const Matrix<T> xhat = standardised(row, m, eps);
    result.mean(r, 0) = m.mean;
    result.var(r, 0) = m.var;
    for (Eigen::Index c = 0; c < x.cols(); ++c)
      result.y(r, c) = affine ? T(xhat(c) * pass.tensors.at("weight")(c) + pass.tensors.at("bias")(c)) : xhat(c);
  }
  return result;
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  const T eps = number<T>(pass.layer.number("eps"));
  const bool affine = pass.layer.flag("affine");
  BackwardResult<T> result{Matrix<T>(x.rows(), x.cols()), {}};
  Matrix<T> d_weight = Matrix<T>::Zero(1, x.cols());
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    const Matrix<T> row = x.row(r), dy_row = dy.row(r);
    const ExactMoments<T> m = moments(row);
    const Matrix<T> d_xhat = affine ? Matrix<T>(dy_row.cwiseProduct(pass.tensors.at("weight"))) : dy_row;
    result.dx.row(r) = standardised_gradient(row, m, eps, d_xhat);
    if (affine) d_weight += dy_row.cwiseProduct(standardised(row, m, eps));
  }
  if (!affine) return result;
  result.parameters["weight"] = d_weight;
  result.parameters["bias"] = dy.colwise().sum();
  return result;
}

std::vector<std::int64_t> per_feature(const Choice&, std::int64_t features) { return {features}; }
bool affine(const Choice& layer) { return layer.flag("affine"); }

const Contract contract{
    .kind = "layer_norm",
    .options = {{.name = "eps", .type = OptionType::number, .standard = Decimal{"1e-5"}, .range = {.above = "0"}},
                {.name = "affine", .type = OptionType::boolean, .standard = true}},
    .tensors = {{.name = "weight", .role = Role::parameter, .shape = per_feature, .present = affine},
                {.name = "bias", .role = Role::parameter, .shape = per_feature, .present = affine}},
    .norm = true,
    .row_statistics = {{.name = "mean"}, {.name = "rstd"}},
    .definition = "y = (x - mean) / sqrt(biased variance + eps) * weight + bias, over features"};

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
  const Arithmetic fp32 = single(pass.declared), storage(pass.declared, pass.declared.storage);
  const BoundedMatrix in(pass.declared, x);
  const bool affine = pass.tensors.contains("weight");
  const BoundedMatrix weight(pass.declared, affine ? pass.tensors.at("weight") : Expected{});
  const BoundedMatrix bias(pass.declared, affine ? pass.tensors.at("bias") : Expected{});
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
  return {joined(pass.declared, exact.y, y), joined(pass.declared, exact.mean, mean),
          joined(pass.declared, exact.var, var),
          joined(pass.declared, (exact.var.array() + eps).sqrt().inverse().matrix(), rstd)};
}

/// The error of a kernel that says nothing of itself, and may be PyTorch's: dx = a g + b x + c with a = r,
/// b = (mean sum g - sum g x) r^3 / n, c = -b mean - r sum g / n. Its sums are of x and not of h, so that they cancel
/// where the mean is large, and b underflows before it is multiplied. `magnitude` is sum |g| (|x| + |mean|).
double error_by_moments(const Arithmetic& fp32, Bounded x, const Moments& m, double magnitude, double n) {
  if (!(magnitude < fp32.threshold())) return infinite;
  const double r = std::fabs(m.rstd.v) + m.rstd.e, mean = std::fabs(m.mean.v) + m.mean.e;
  const double size = std::fabs(x.v) + x.e + mean, factors = (1 + r) * (1 + r) * (1 + r);
  return gam(n + 8, fp32.u()) * magnitude * r * r * r / n * size + 8 * fp32.underflow() * factors * (1 + size);
}

/// dx of one row, and that row's fl(dy h) for the weight's gradient.
void row_backward(const BoundPass& pass, const BoundedMatrix& x, const BoundedMatrix& dy, const BoundedMatrix& weight,
                  Eigen::Index i, BoundedMatrix& dx, BoundedMatrix& dy_h) {
  const Arithmetic fp32 = single(pass.declared), storage(pass.declared, pass.declared.storage);
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
    if (claim.variant.empty())
      value.e += error_by_moments(fp32, x.at(i, j), m, magnitude, static_cast<double>(x.cols()));
    dx.set(i, j, storage.store(value));
  }
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const BoundedMatrix in(pass.declared, x), gradient(pass.declared, dy);
  const bool affine = pass.tensors.contains("weight");
  const BoundedMatrix weight(pass.declared, affine ? pass.tensors.at("weight") : Expected{});
  BoundedMatrix dx(in.rows(), in.cols()), dy_h(in.rows(), in.cols());
  for (Eigen::Index i = 0; i < in.rows(); ++i) row_backward(pass, in, gradient, weight, i, dx, dy_h);
  const auto exact = exact_backward(pass, x, dy);
  ExpectedBackward result{joined(pass.declared, exact.dx, dx), {}};
  if (!affine) return result;
  const KernelClaim& sums = claim_of(pass.declared, "layer_norm.parameter_gradients");
  const Format& storage = pass.declared.storage;
  result.parameters["weight"] = joined(pass.declared, exact.parameters.at("weight"),
                                       stored(pass.declared, storage, column_sums(pass.declared, dy_h, sums)));
  result.parameters["bias"] = joined(pass.declared, exact.parameters.at("bias"),
                                     stored(pass.declared, storage, column_sums(pass.declared, gradient, sums)));
  return result;
}

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics& statistics) {
  const Matrix<float>&mean = statistics.mean, &rstd = statistics.rstd;
  const bool known_here = mean.size() == x.rows() && rstd.size() == x.rows();
  if (!as_written(pass.declared, "layer_norm.forward") || !known_here) return {};
  const bool affine = pass.tensors.contains("weight");
  const Matrix<float> weight = affine ? held(pass.tensors.at("weight")) : Matrix<float>();
  const Matrix<float> bias = affine ? held(pass.tensors.at("bias")) : Matrix<float>();
  return of_each(x.rows(), x.cols(), [&](Eigen::Index i) {
    const Eigen::Index row = i / x.cols(), column = i % x.cols();
    const float centred = x.data()[i] - mean.data()[row];
    float value = centred * rstd.data()[row];
    if (affine) {
      const float scaled = value * weight.data()[column];
      value = scaled + bias.data()[column];
    }
    return stored(pass.declared.storage, value);
  });
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}, {y, nullptr, nullptr}}}};

}  // namespace
}  // namespace tally::oracle::layer_norm_kind
