// The gradient of a network (tests/oracle/window/net.hpp) as anybody would write it in Eigen: the peers of the oracle.
// The scalar is double, its products OpenBLAS's, or a number of Boost's.
#pragma once

#include <Eigen/Core>
#include <cmath>

#include "tests/oracle/window/net.hpp"

namespace tally::benchmarks {

template <class T>
using Plain = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// a b, transposed where it is said: Eigen's product, or OpenBLAS's of doubles.
template <class T>
Plain<T> plain_product(const Plain<T>& a, bool turned_a, const Plain<T>& b, bool turned_b) {
  if (turned_a) return a.transpose() * b;
  if (turned_b) return a * b.transpose();
  return a * b;
}
template <>
Plain<double> plain_product(const Plain<double>& a, bool turned_a, const Plain<double>& b, bool turned_b);

template <class T>
class PlainGradient {
 public:
  explicit PlainGradient(const oracle::Net& net)
      : net_(net),
        x_(held(net, "x")),
        target_(held(net, "target")),
        weight1_(held(net, "fc1.weight")),
        bias1_(held(net, "fc1.bias")),
        weight2_(held(net, "fc2.weight")),
        bias2_(held(net, "fc2.bias")) {
    if (net.norm.empty()) return;
    scale_ = held(net, "norm.weight");
    shift_ = held(net, "norm.bias");
  }

  /// Leaves the gradients of all parameters.
  void run() {
    const T rows = static_cast<double>(net_.rows);
    Plain<T> z = plain_product<T>(x_, false, weight1_, true);
    z.rowwise() += bias1_.row(0);
    if (!net_.norm.empty()) normalise(z, rows);
    const bool smooth = net_.activation == "tanh";
    const Plain<T> h = smooth ? Plain<T>(z.unaryExpr([](const T& v) -> T {
      using std::tanh;
      return tanh(v);
    }))
                              : Plain<T>(z.cwiseMax(T(0)));
    Plain<T> y = plain_product<T>(h, false, weight2_, true);
    y.rowwise() += bias2_.row(0);
    loss_gradient(y, rows);
    d_weight2_ = plain_product<T>(y, true, h, false);
    d_bias2_ = y.colwise().sum();
    Plain<T> dz = plain_product<T>(y, false, weight2_, false);
    const T* active = h.data();
    for (T* d = dz.data(); d != dz.data() + dz.size(); ++d, ++active) {
      if (smooth)
        *d *= 1 - *active * *active;
      else if (!(*active > 0))
        *d = 0;
    }
    if (!net_.norm.empty()) through_norm(dz, rows);
    d_weight1_ = plain_product<T>(dz, true, x_, false);
    d_bias1_ = dz.colwise().sum();
  }

  const Plain<T>& d_weight1() const { return d_weight1_; }

 private:
  static Plain<T> held(const oracle::Net& net, const std::string& name) {
    const Tensor tensor = oracle::case_of(net).tensors.at(name);
    const Eigen::Index rows = tensor.shape.size() == 2 ? tensor.shape[0] : 1;
    Plain<T> result(rows, static_cast<Eigen::Index>(tensor.elements()) / rows);
    for (Eigen::Index i = 0; i < result.size(); ++i) result.data()[i] = tensor.value(static_cast<std::size_t>(i));
    return result;
  }

  /// y becomes the gradient of the mean loss by y.
  void loss_gradient(Plain<T>& y, const T& rows) {
    if (net_.loss == "mse") {
      const T factor = 2 / (rows * T(static_cast<double>(y.cols())));
      y = ((y - target_) * factor).eval();
      return;
    }
    for (Eigen::Index r = 0; r < y.rows(); ++r) {
      const T most = y.row(r).maxCoeff();
      y.row(r) = y.row(r)
                     .unaryExpr([&](const T& v) -> T {
                       using std::exp;
                       return exp(T(v - most));
                     })
                     .eval();
      const T sum = y.row(r).sum() * rows;
      y.row(r) /= sum;
      y(r, static_cast<Eigen::Index>(target_(0, r))) -= 1 / rows;
    }
  }

  void normalise(Plain<T>& z, const T& rows) {
    using std::sqrt;
    mean_ = z.colwise().sum() / rows;
    z.rowwise() -= mean_.row(0);
    rstd_ = (z.cwiseProduct(z).colwise().sum() / rows).unaryExpr([](const T& v) -> T {
      return 1 / sqrt(T(v + T(1) / 100000));
    });
    for (Eigen::Index c = 0; c < z.cols(); ++c) z.col(c) *= rstd_(0, c);
    standardised_ = z;
    for (Eigen::Index c = 0; c < z.cols(); ++c) z.col(c) *= scale_(0, c);
    z.rowwise() += shift_.row(0);
  }

  void through_norm(Plain<T>& dz, const T& rows) {
    const Plain<T> sum = dz.colwise().sum(), dot = dz.cwiseProduct(standardised_).colwise().sum();
    d_scale_ = dot;
    d_shift_ = sum;
    for (Eigen::Index c = 0; c < dz.cols(); ++c) {
      const T mean = sum(0, c) / rows, slope = dot(0, c) / rows, factor = scale_(0, c) * rstd_(0, c);
      for (Eigen::Index r = 0; r < dz.rows(); ++r) dz(r, c) = factor * (dz(r, c) - mean - standardised_(r, c) * slope);
    }
  }

  oracle::Net net_;
  Plain<T> x_, target_, weight1_, bias1_, weight2_, bias2_, scale_, shift_;
  Plain<T> mean_, rstd_, standardised_;
  Plain<T> d_weight1_, d_bias1_, d_weight2_, d_bias2_, d_scale_, d_shift_;
};

}  // namespace tally::benchmarks
