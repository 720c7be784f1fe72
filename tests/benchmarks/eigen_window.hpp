// One window in plain Eigen double, as anybody would write it: the yardstick for what bounds cost. Linear layers with
// bias, ReLU, optionally batch norm over the micro-batch before each ReLU; cross-entropy, K micro-batches, clip by
// norm, SGD.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <vector>

namespace tally::benchmarks {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::RowVectorXd;

struct EigenLayer {
  Matrix weight, d_weight;
  Row bias, d_bias;
  Row scale, shift, d_scale, d_shift, mean, rstd;  // batch norm; empty without
  Matrix x, z, h;                                  // saved by forward: input, before the norm, normalised
};

class EigenWindow {
 public:
  EigenWindow(const std::vector<int>& sizes, bool batch_norm) {
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
      EigenLayer layer;
      layer.weight = Matrix::Random(sizes[i + 1], sizes[i]) * std::sqrt(2.0 / sizes[i]);
      layer.bias = Row::Zero(sizes[i + 1]);
      const bool norm = batch_norm && i + 2 < sizes.size();
      if (norm) layer.scale = Row::Ones(sizes[i + 1]), layer.shift = Row::Zero(sizes[i + 1]);
      layers_.push_back(std::move(layer));
    }
  }

  /// Takes one step and gives the loss.
  double step(const Matrix& x, const std::vector<int>& target, int micro_batches, double max_norm, double rate) {
    double loss = 0;
    for (EigenLayer& layer : layers_) clear(layer);
    const auto rows = x.rows() / micro_batches;
    for (int k = 0; k < micro_batches; ++k) {
      Matrix dy = forward(x.middleRows(k * rows, rows));
      loss += cross_entropy(dy, target.data() + k * rows, static_cast<double>(x.rows()));
      backward(std::move(dy));
    }
    update(max_norm, rate);
    return loss;
  }

 private:
  static void clear(EigenLayer& layer) {
    layer.d_weight.setZero(layer.weight.rows(), layer.weight.cols());
    layer.d_bias.setZero(layer.bias.size());
    layer.d_scale.setZero(layer.scale.size());
    layer.d_shift.setZero(layer.shift.size());
  }

  Matrix forward(Matrix x) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      EigenLayer& layer = layers_[i];
      layer.x = std::move(x);
      layer.z.noalias() = layer.x * layer.weight.transpose();
      layer.z.rowwise() += layer.bias;
      Matrix y = layer.z;
      if (layer.scale.size() != 0) {
        layer.mean = layer.z.colwise().mean();
        layer.h = layer.z.rowwise() - layer.mean;
        layer.rstd = (layer.h.array().square().colwise().mean() + 1e-5).rsqrt();
        layer.h.array().rowwise() *= layer.rstd.array();
        y = (layer.h.array().rowwise() * layer.scale.array()).rowwise() + layer.shift.array();
      }
      if (i + 1 < layers_.size()) y = y.cwiseMax(0);
      x = std::move(y);
    }
    return x;
  }

  /// The loss of some rows; y becomes its gradient.
  static double cross_entropy(Matrix& y, const int* target, double items) {
    double loss = 0;
    for (Eigen::Index i = 0; i < y.rows(); ++i) {
      const double most = y.row(i).maxCoeff();
      y.row(i) = (y.row(i).array() - most).exp();
      const double sum = y.row(i).sum();
      y.row(i) /= sum;
      loss -= std::log(y(i, target[i])) / items;
      y(i, target[i]) -= 1;
    }
    y /= items;
    return loss;
  }

  void backward(Matrix dy) {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      EigenLayer& layer = layers_[i];
      if (layer.scale.size() != 0) through_norm(layer, dy);
      layer.d_weight.noalias() += dy.transpose() * layer.x;
      layer.d_bias += dy.colwise().sum();
      if (i == 0) return;
      Matrix dx = dy * layer.weight;
      dy = (layer.x.array() > 0).select(dx, 0);
    }
  }

  static void through_norm(EigenLayer& layer, Matrix& dy) {
    const auto n = static_cast<double>(dy.rows());
    const Row sum = dy.colwise().sum(), sum_h = dy.cwiseProduct(layer.h).colwise().sum();
    layer.d_shift += sum;
    layer.d_scale += sum_h;
    dy.rowwise() -= sum / n;
    dy -= (layer.h.array().rowwise() * (sum_h / n).array()).matrix();
    dy.array().rowwise() *= (layer.scale.array() * layer.rstd.array());
  }

  void update(double max_norm, double rate) {
    double squares = 0;
    for (const EigenLayer& layer : layers_) {
      squares += layer.d_weight.squaredNorm() + layer.d_bias.squaredNorm();
      squares += layer.d_scale.squaredNorm() + layer.d_shift.squaredNorm();
    }
    const double factor = rate * std::min(1.0, max_norm / (std::sqrt(squares) + 1e-6));
    for (EigenLayer& layer : layers_) {
      layer.weight -= factor * layer.d_weight;
      layer.bias -= factor * layer.d_bias;
      layer.scale -= factor * layer.d_scale;
      layer.shift -= factor * layer.d_shift;
    }
  }

  std::vector<EigenLayer> layers_;
};

}  // namespace tally::benchmarks
