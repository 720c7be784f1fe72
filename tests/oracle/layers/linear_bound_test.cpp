#include "tests/oracle/tolerance/emulation.hpp"

namespace tally::oracle::linear_bound_test {
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

Tensor tensor_of(Dtype dtype, const Matrix<float>& x) {
  Tensor tensor(dtype, {x.rows(), x.cols()});
  for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, x.data()[i]);
  return tensor;
}

/// Equal but for this share of what is expected.
void expect_share(double got, double expected, double share) {
  EXPECT_LE(std::fabs(got - expected), std::fabs(expected) * share);
}

/// The same values to long double's last bit, and the same bounds but for the order in which magnitudes are added.
void expect_same(const Expected& read, const Expected& whole, double terms) {
  const double share = (terms + 16) * 0x1p-51;
  ASSERT_EQ(read.v.size(), whole.v.size());
  ASSERT_EQ(read.s.size(), whole.s.size());
  for (Eigen::Index i = 0; i < read.v.size(); ++i) {
    EXPECT_LE(std::fabs(read.v.data()[i] - whole.v.data()[i]), std::fabs(whole.v.data()[i]) * 0x1p-62L);
    expect_share(read.e.data()[i], whole.e.data()[i], share);
    if (whole.s.size() == 0) continue;
    expect_share(read.r.data()[i], whole.r.data()[i], share);
    expect_share(read.s.data()[i], whole.s.data()[i], 2 * share);
  }
}

/// What was drawn, as a subject's bits.
struct ReadTensors {
  Tensor x, dy, weight, bias;
  ExpectedTensors tensors;
  BoundPass pass;

  ReadTensors(const Drawn& d, Dtype storage)
      : x(tensor_of(storage, d.x)),
        dy(tensor_of(storage, d.dy)),
        weight(tensor_of(storage, d.weight)),
        bias(tensor_of(storage, d.bias)),
        tensors{{"weight", only_read(weight)}, {"bias", only_read(bias)}},
        pass{d.layer, tensors, {d.x.rows()}, d.declared_, {}} {}
  std::optional<Expected> rows(const std::string& output, Eigen::Index first, Eigen::Index count) const {
    return bound_rule("linear").output_rows(pass, output, only_read(x), only_read(dy), first, count);
  }
};

Expected rows_of(const Expected& x, Eigen::Index first, Eigen::Index rows) {
  Expected some{x.v.middleRows(first, rows), x.e.middleRows(first, rows)};
  if (x.s.size() == 0) return some;
  some.r = x.r.middleRows(first, rows);
  some.s = x.s.middleRows(first, rows);
  return some;
}

TEST(LinearBound, SaysTheSameOfSomeRowsOfWhatWasOnlyRead) {
  for (const Spread spread : {Spread::none, Spread::least}) {
    for (const Dtype storage : emulation::storages) {
      for (unsigned seed = 1; seed <= 20; ++seed) {
        Subject s(storage, seed);
        Drawn d(s, 1 + seed % 5, 1 + seed % 40, 1 + seed % 7);
        d.declared_.asked.spread = spread;
        const ReadTensors read(d, storage);
        const auto terms = static_cast<double>(std::max({d.x.rows(), d.x.cols(), d.dy.cols()}));
        auto whole = bound_rule("linear").backward(d.pass, exactly(d.x), exactly(d.dy)).parameters;
        whole["dx"] = bound_rule("linear").backward(d.pass, exactly(d.x), exactly(d.dy)).dx;
        whole["y"] = bound_rule("linear").forward(d.pass, exactly(d.x)).y;
        for (const auto& [output, expected] : whole) {
          const Eigen::Index all = expected.v.rows(), cut = all / 2;
          for (const auto& [first, rows] : {std::pair(Eigen::Index{0}, cut), std::pair(cut, all - cut)}) {
            const auto some = read.rows(output, first, rows);
            ASSERT_TRUE(some) << output;
            if (rows > 0) expect_same(*some, rows_of(expected, first, rows), terms);
          }
        }
      }
    }
  }
}

TEST(LinearBound, TakesWhatWasOnlyReadWhole) {
  Subject s(Dtype::fp32, 5);
  Drawn d(s, 3, 8, 4);
  d.x(1, 2) = INFINITY;
  const ReadTensors read(d, Dtype::fp32);
  EXPECT_FALSE(read.rows("y", 0, 3)) << "an infinity is settled with v and e at hand";
  const Expected y = bound_rule("linear").forward(read.pass, only_read(read.x)).y,
                 whole = bound_rule("linear").forward(d.pass, exactly(d.x)).y;
  EXPECT_EQ(y.e, whole.e);
  for (Eigen::Index j = 0; j < 4; ++j) EXPECT_FALSE(std::isfinite(static_cast<double>(y.v(1, j))));
  const auto gradients = bound_rule("linear").backward(read.pass, only_read(read.x), only_read(read.dy)),
             all = bound_rule("linear").backward(d.pass, exactly(d.x), exactly(d.dy));
  EXPECT_EQ(gradients.dx.e, all.dx.e);
  EXPECT_EQ(gradients.parameters.at("bias").e, all.parameters.at("bias").e);
}

}  // namespace
}  // namespace tally::oracle::linear_bound_test
