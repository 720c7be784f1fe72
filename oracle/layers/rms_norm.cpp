// Row r has n features c; k runs over the row's features too. w holds an element a feature, and w' = 1 where
// the layer is not affine, whatever the offset is.
// (rms_norm.1)  rstd_r = 1 / sqrt((1/n) sum_c x_rc² + eps)
// (rms_norm.2)  y_rc = h_rc w'_c,  h_rc = x_rc rstd_r,  w'_c = offset + w_c
// (rms_norm.3)  dx_rc = rstd_r (g_rc - h_rc (1/n) sum_k g_rk h_rk),  g_rc = dy_rc w'_c
// (rms_norm.4)  dw_c = sum_r dy_rc h_rc
// rms_norm: (rms_norm.1) as a sum of squares, none of which cancels another, (rms_norm.2), (rms_norm.3) through the
// same rounded rstd, (rms_norm.4) as column sums. Operations and their order are those of kernels/arithmetic.md.
// rms_norm from the rstd that the subject left: (rms_norm.2), one operation a line as kernels/arithmetic.md writes it.
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/number.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/tolerance/moments.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::rms_norm_kind {
namespace {

template <class T>
T reciprocal_root(const Matrix<T>& row, const T& eps) {
  T squares = 0;
  for (Eigen::Index c = 0; c < row.size(); ++c) squares += row(c) * row(c);
  return 1 / sqrt(T(squares / T(static_cast<double>(row.size())) + eps));
}

/// w', one row.
template <class T>
Matrix<T> weights(const Pass<T>& pass, Eigen::Index features) {
  if (!pass.layer.flag("affine")) return Matrix<T>::Constant(1, features, T(1));
  const T offset = number<T>(pass.layer.number("offset"));
  return pass.tensors.at("weight").unaryExpr([&](const T& w) -> T { return offset + w; });
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  const T eps = number<T>(pass.layer.number("eps"));
  const Matrix<T> w = weights(pass, x.cols());
  ForwardResult<T> result{Matrix<T>(x.rows(), x.cols()), {}, {}};
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    const Matrix<T> row = x.row(r);
    const T rstd = reciprocal_root(row, eps);
    for (Eigen::Index c = 0; c < x.cols(); ++c) result.y(r, c) = row(c) * rstd * w(c);
  }
  return result;
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  const T eps = number<T>(pass.layer.number("eps")), n = static_cast<double>(x.cols());
  const Matrix<T> w = weights(pass, x.cols());
  BackwardResult<T> result{Matrix<T>(x.rows(), x.cols()), {}};
  Matrix<T> d_weight = Matrix<T>::Zero(1, x.cols());
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    const Matrix<T> row = x.row(r);
    const T rstd = reciprocal_root(row, eps);
    T along = 0;
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      along += dy(r, c) * w(c) * row(c) * rstd;
      d_weight(c) += dy(r, c) * row(c) * rstd;
    }
    for (Eigen::Index c = 0; c < x.cols(); ++c) result.dx(r, c) = rstd * (dy(r, c) * w(c) - row(c) * rstd * along / n);
  }
  if (pass.layer.flag("affine")) result.parameters["weight"] = d_weight;
  return result;
}

std::vector<std::int64_t> per_feature(const Choice&, std::int64_t features) { return {features}; }
bool affine(const Choice& layer) { return layer.flag("affine"); }

const Contract contract{
    .kind = "rms_norm",
    .options = {{.name = "eps", .type = OptionType::number, .standard = Decimal{"1e-6"}, .range = {.above = "0"}},
                {.name = "affine", .type = OptionType::boolean, .standard = true},
                {.name = "offset", .type = OptionType::number, .standard = Decimal{"0"}}},
    .tensors = {{.name = "weight", .role = Role::parameter, .shape = per_feature, .present = affine}},
    .drawn = false,
    .norm = true,
    .row_statistics = {{.name = "rstd"}},
    .definition = "y = x / sqrt(mean of x² + eps) * (offset + weight), over features"};

/// rstd of a row, by the kernel of this operation.
Bounded rstd(const BoundPass& pass, const BoundedMatrix& x, Eigen::Index row) {
  const Arithmetic fp32 = single(pass.declared);
  const KernelClaim& claim = claim_of(pass.declared, "rms_norm.forward");
  Addends squares = addends_of(claim);
  for (Eigen::Index j = 0; j < x.cols(); ++j) squares.add(shared(fp32.mul(x.at(row, j), x.at(row, j))));
  const Bounded mean = fp32.mul(sum_of(fp32, claim, squares), reciprocal(pass.declared, static_cast<double>(x.cols())));
  return rstd_of(pass.declared, shared(mean), constant(pass.layer.number("eps")), claim.rsqrt || claim.variant.empty());
}

/// w' of every feature: one rounding where there is an offset. 1 where the layer is not affine.
std::vector<Bounded> weights(const BoundPass& pass, Eigen::Index features) {
  const auto given = pass.tensors.find("weight");
  if (given == pass.tensors.end()) return std::vector<Bounded>(static_cast<std::size_t>(features), {1, 0});
  const BoundedMatrix weight(pass.declared, given->second);
  const Bounded offset = constant(pass.layer.number("offset"));
  const bool none = offset.v == 0 && offset.e == 0;
  std::vector<Bounded> all;
  for (Eigen::Index j = 0; j < features; ++j)
    all.push_back(none ? weight.at(0, j) : single(pass.declared).add(offset, weight.at(0, j)));
  return all;
}

Matrix<long double> exact_rstd(const BoundPass& pass, const Expected& x) {
  if (pass.declared.bounds_only()) return {};
  const auto eps = number<long double>(pass.layer.number("eps"));
  return (x.v.array().square().rowwise().mean() + eps).sqrt().inverse().matrix();
}

/// Rounds what is multiplied by a weight, or comes from such a product, as it is stored in S on the way: unless the
/// kernel claims that it is not, or nothing is lost.
class OnTheWay {
 public:
  OnTheWay(const BoundPass& pass, const char* operation)
      : storage_(pass.declared, pass.declared.storage),
        rounds_(claim_of(pass.declared, operation).algorithm != "cast_last" &&
                pass.declared.storage.p < format_of(Dtype::fp32).p) {}
  Bounded operator()(Bounded x) const { return rounds_ ? storage_.store(x) : x; }

 private:
  Arithmetic storage_;
  bool rounds_;
};

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const Arithmetic fp32 = single(pass.declared), storage(pass.declared, pass.declared.storage);
  const OnTheWay on_the_way(pass, "rms_norm.forward");
  const BoundedMatrix in(pass.declared, x);
  const std::vector<Bounded> w = weights(pass, in.cols());
  const bool affine = pass.tensors.contains("weight");
  BoundedMatrix y(in.rows(), in.cols()), scale(in.rows(), 1);
  for (Eigen::Index i = 0; i < in.rows(); ++i) {
    const Bounded row = rstd(pass, in, i);
    scale.set(i, 0, row);
    for (Eigen::Index j = 0; j < in.cols(); ++j) {
      const Bounded h = on_the_way(fp32.mul(in.at(i, j), row));
      y.set(i, j, storage.store(affine ? fp32.mul(h, w[static_cast<std::size_t>(j)]) : h));
    }
  }
  return {
      joined(pass.declared, exact_forward(pass, x).y, y), {}, {}, joined(pass.declared, exact_rstd(pass, x), scale)};
}

/// sum |g x| of a row.
template <class G>
double magnitude_along(const BoundedMatrix& x, Eigen::Index row, const G& g) {
  double sum = 0;
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    const Bounded a = g(j), b = x.at(row, j);
    sum += (std::fabs(a.v) + a.e) * (std::fabs(b.v) + b.e);
  }
  return sum;
}

/// The error of a kernel that says nothing of itself, and may be the derivative of x (mean x^2 + eps)^(-1/2) operation
/// by operation: dx = g r - x (r^3 sum g x) / n. The cube and its products are rounded some four times more than h
/// mean(g h), and underflow before they are multiplied: the cube by eta, then what the sum makes of it, then its n-th
/// part. `magnitude` is sum |g x|, which may leave the range where h mean(g h) does not.
double error_of_cube(const Arithmetic& fp32, Bounded x, Bounded rstd, double magnitude, double n) {
  if (!(magnitude < fp32.threshold())) return infinite;
  const double size = std::fabs(x.v) + x.e, magnitude_over_n = magnitude / n, r = std::fabs(rstd.v) + rstd.e;
  return 4 * fp32.u() * size * r * r * r * magnitude_over_n + fp32.underflow() * (magnitude_over_n * size + 4 * size);
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const Arithmetic fp32 = single(pass.declared), storage(pass.declared, pass.declared.storage);
  const BoundedMatrix in(pass.declared, x), gradient(pass.declared, dy);
  const KernelClaim& claim = claim_of(pass.declared, "rms_norm.backward");
  const std::vector<Bounded> w = weights(pass, in.cols());
  const bool affine = pass.tensors.contains("weight");
  const OnTheWay on_the_way(pass, "rms_norm.backward"), in_the_sum(pass, "rms_norm.weight_gradient");
  const Bounded inverse = reciprocal(pass.declared, static_cast<double>(in.cols()));
  BoundedMatrix dx(in.rows(), in.cols()), dy_h(in.rows(), in.cols());
  for (Eigen::Index i = 0; i < in.rows(); ++i) {
    const Bounded row = rstd(pass, in, i);
    const auto g = [&](Eigen::Index j) {
      return affine ? on_the_way(fp32.mul(gradient.at(i, j), w[static_cast<std::size_t>(j)])) : gradient.at(i, j);
    };
    Addends along = addends_of(claim);
    for (Eigen::Index j = 0; j < in.cols(); ++j) {
      const Bounded h = fp32.mul(in.at(i, j), row);
      along.add(fp32.mul(g(j), h));
      dy_h.set(i, j, in_the_sum(fp32.mul(gradient.at(i, j), in_the_sum(h))));
    }
    const Bounded m = shared(fp32.mul(sum_of(fp32, claim, along), inverse));
    const double through_cube = claim.variant.empty() ? magnitude_along(in, i, g) : -1;
    for (Eigen::Index j = 0; j < in.cols(); ++j) {
      const Bounded h = fp32.mul(in.at(i, j), row);
      Bounded value = fp32.mul(row, fp32.sub(g(j), fp32.mul(h, m)));
      if (through_cube >= 0)
        value.e += error_of_cube(fp32, in.at(i, j), row, through_cube, static_cast<double>(in.cols()));
      dx.set(i, j, storage.store(value));
    }
  }
  const auto exact = exact_backward(pass, x, dy);
  ExpectedBackward result{joined(pass.declared, exact.dx, dx), {}};
  if (!affine) return result;
  const KernelClaim& sums = claim_of(pass.declared, "rms_norm.weight_gradient");
  result.parameters["weight"] =
      joined(pass.declared, exact.parameters.at("weight"),
             stored(pass.declared, pass.declared.storage, column_sums(pass.declared, dy_h, sums)));
  return result;
}

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics& statistics) {
  const Matrix<float>& rstd = statistics.rstd;
  if (!as_written(pass.declared, "rms_norm.forward") || rstd.size() != x.rows()) return {};
  const bool affine = pass.tensors.contains("weight");
  const Matrix<float> weight = affine ? held(pass.tensors.at("weight")) : Matrix<float>();
  const float offset = held(pass.layer.number("offset"));
  return of_each(x.rows(), x.cols(), [&](Eigen::Index i) {
    const Eigen::Index row = i / x.cols(), column = i % x.cols();
    float value = x.data()[i] * rstd.data()[row];
    if (affine) {
      const float scale = offset + weight.data()[column];
      value = value * scale;
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
}  // namespace tally::oracle::rms_norm_kind
