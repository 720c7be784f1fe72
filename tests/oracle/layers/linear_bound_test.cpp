#include "tests/oracle/tolerance/emulation.hpp"

namespace tally::oracle {
namespace {

using emulation::exactly;
using emulation::Subject;
using emulation::Worst;

std::vector<float> row(const Matrix<float>& m, Eigen::Index i) {
  return std::vector<float>(m.data() + i * m.cols(), m.data() + (i + 1) * m.cols());
}

/// A Bᵀ, stored.
Matrix<float> product(Subject& subject, const Matrix<float>& a, const Matrix<float>& b) {
  Matrix<float> z(a.rows(), b.rows());
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    for (Eigen::Index j = 0; j < z.cols(); ++j) z(i, j) = subject.store(subject.dot(row(a, i), row(b, j)));
  }
  return z;
}

struct Drawn {
  Layer layer;
  Claims claims;
  Precision precision;
  Declared declared_;
  Matrix<float> x, weight, bias, dy;
  ExpectedTensors tensors;
  BoundPass pass;

  Drawn(Subject& s, Eigen::Index rows, Eigen::Index in, Eigen::Index out)
      : precision(s.precision()),
        declared_(declared(precision, claims)),
        x(s.values(rows, in)),
        weight(s.values(out, in)),
        bias(s.values(1, out)),
        dy(s.values(rows, out, 0.01)),
        tensors{{"weight", exactly(weight)}, {"bias", exactly(bias)}},
        pass{layer, tensors, {rows}, declared_, {}} {
    layer.kind = "linear";
    layer.options = {{"out", static_cast<std::int64_t>(out)}, {"bias", true}};
    claims.kernels["gemm"] = {.variant = "any", .result = precision.storage};
  }
};

Matrix<float> forward(Subject& s, const Drawn& d) {
  Matrix<float> y = product(s, d.x, d.weight);
  for (Eigen::Index i = 0; i < y.rows(); ++i) {
    for (Eigen::Index j = 0; j < y.cols(); ++j) y(i, j) = s.store(y(i, j) + d.bias(0, j));
  }
  return y;
}

TEST(LinearBound, HoldsForwardInEveryOrderAndFormat) {
  for (const Dtype storage : emulation::storages) {
    Worst worst;
    for (unsigned seed = 1; seed <= 150; ++seed) {
      Subject s(storage, seed);
      Drawn d(s, 1 + seed % 5, 1 + seed % 40, 1 + seed % 7);
      worst.hold(bound_rule("linear").forward(d.pass, exactly(d.x)).y, forward(s, d));
    }
    worst.expect_sound("linear forward " + std::string(name_of(storage)));
  }
}

TEST(LinearBound, HoldsBackwardInEveryOrderAndFormat) {
  for (const Dtype storage : emulation::storages) {
    Worst dx, dw, db;
    for (unsigned seed = 1; seed <= 150; ++seed) {
      Subject s(storage, seed);
      Drawn d(s, 1 + seed % 5, 1 + seed % 40, 1 + seed % 7);
      const auto expected = bound_rule("linear").backward(d.pass, exactly(d.x), exactly(d.dy));
      const Matrix<float> dyt = d.dy.transpose(), xt = d.x.transpose(), wt = d.weight.transpose();
      dx.hold(expected.dx, product(s, d.dy, wt));
      dw.hold(expected.parameters.at("weight"), product(s, dyt, xt));
      Matrix<float> sums(1, d.dy.cols());
      for (Eigen::Index j = 0; j < sums.cols(); ++j) sums(0, j) = s.store(s.sum(row(dyt, j)));
      db.hold(expected.parameters.at("bias"), sums);
    }
    dx.expect_sound("linear dx " + std::string(name_of(storage)));
    dw.expect_sound("linear dW " + std::string(name_of(storage)));
    db.expect_sound("linear db " + std::string(name_of(storage)));
  }
}

TEST(LinearBound, RejectsALostRowOfTheGradient) {
  for (const Dtype storage : emulation::storages) {
    Subject s(storage, 3);
    Drawn d(s, 6, 8, 4);
    const auto expected = bound_rule("linear").backward(d.pass, exactly(d.x), exactly(d.dy));
    Matrix<float> dyt = d.dy.transpose(), xt = d.x.transpose();
    dyt.col(5).setZero();
    Worst worst;
    worst.hold(expected.parameters.at("weight"), product(s, dyt, xt));
    EXPECT_GT(worst.over, worst.elements / 2);
  }
}

TEST(LinearBound, RejectsAForgottenBias) {
  for (const Dtype storage : emulation::storages) {
    Subject s(storage, 4);
    Drawn d(s, 6, 8, 4);
    const auto expected = bound_rule("linear").forward(d.pass, exactly(d.x)).y;
    Worst worst;
    worst.hold(expected, product(s, d.x, d.weight));
    EXPECT_GT(worst.over, worst.elements / 2);
  }
}

TEST(LinearBound, PassesInputBoundsOn) {
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16}) {
    Worst worst;
    for (unsigned seed = 1; seed <= 100; ++seed) {
      Subject s(storage, seed);
      Drawn d(s, 3, 20, 5);
      Expected x = exactly(d.x);
      x.e.setConstant(0x1p-8);
      const Expected y = bound_rule("linear").forward(d.pass, x).y;
      std::uniform_real_distribution<float> move(-0x1p-8f, 0x1p-8f);
      for (Eigen::Index i = 0; i < d.x.size(); ++i) {
        const float moved = s.store(d.x.data()[i] + move(s.random()));
        if (std::fabs(moved - x.v.data()[i]) <= 0x1p-8L) d.x.data()[i] = moved;
      }
      worst.hold(y, forward(s, d));
    }
    worst.expect_sound("linear forward, moved inputs " + std::string(name_of(storage)));
  }
}

TEST(LinearBound, KnowsWhatOverflowsForCertain) {
  Subject s(Dtype::fp16, 1);
  Drawn d(s, 1, 2, 1);
  d.x.setConstant(60000);
  d.tensors["weight"].v.setConstant(2);
  const Expected y = bound_rule("linear").forward(d.pass, exactly(d.x)).y;
  EXPECT_TRUE(std::isinf(y.v(0, 0)));
  EXPECT_EQ(y.e(0, 0), 0);
}

}  // namespace
}  // namespace tally::oracle
