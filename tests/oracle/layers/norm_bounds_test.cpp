// batch_norm and layer_norm against the kernels' formulas in floats, sums in random orders.
#include "tests/oracle/tolerance/emulation.hpp"

namespace tally::oracle::norm_bounds_test {
namespace {

using emulation::exactly;
using emulation::Subject;
using emulation::Worst;

std::vector<float> elements(const Matrix<float>& x) { return {x.data(), x.data() + x.size()}; }

struct Statistics {
  float mean, var, rstd;
};

Statistics statistics(Subject& s, const Matrix<float>& x, float eps) {
  const auto share = static_cast<float>(1.0 / static_cast<double>(x.size()));
  Statistics found{};
  found.mean = s.sum(elements(x)) * share;
  std::vector<float> squares;
  for (const float value : elements(x)) squares.push_back((value - found.mean) * (value - found.mean));
  found.var = s.sum(squares) * share;
  found.rstd = 1.0f / std::sqrt(found.var + eps);
  return found;
}

struct Backward {
  Matrix<float> dx, dw, db;
};

/// One group, [rows, 1]: batch norm's backward; `without` drops the gradient through the variance.
Backward batch_backward(Subject& s, const Matrix<float>& x, const Matrix<float>& dy, float w, float eps, bool without) {
  const Statistics m = statistics(s, x, eps);
  std::vector<float> products;
  const auto h = [&](Eigen::Index i) { return (x(i, 0) - m.mean) * m.rstd; };
  for (Eigen::Index i = 0; i < x.rows(); ++i) products.push_back(dy(i, 0) * h(i));
  const float s1 = s.sum(elements(dy)), s2 = s.sum(products);
  const auto share = static_cast<float>(1.0 / static_cast<double>(x.rows()));
  Backward out{x, Matrix<float>::Constant(1, 1, s.store(s2)), Matrix<float>::Constant(1, 1, s.store(s1))};
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const float slope = without ? 0 : h(i) * (s2 * share);
    out.dx(i, 0) = s.store((w * m.rstd) * ((dy(i, 0) - s1 * share) - slope));
  }
  return out;
}

Layer norm_layer(const char* kind) {
  Layer layer;
  layer.kind = kind;
  layer.name = "bn";
  layer.options = {{"eps", Decimal{"1e-5"}}, {"momentum", Decimal{"0.1"}}, {"affine", true}};
  if (layer.kind == "batch_norm") layer.options["statistics"] = std::string("micro_batch");
  return layer;
}

class NormBound : public testing::TestWithParam<Dtype> {
 protected:
  void hold(const std::string& what, const Worst& worst) {
    worst.expect_sound(what + " " + std::string(name_of(GetParam())));
  }
};

TEST_P(NormBound, HoldsBatchNormWithCentredAndShiftedInputs) {
  Worst mean, var, rstd, y, dx, dw, db;
  std::uint64_t caught = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    Subject s(GetParam(), seed);
    const Claims claims;
    const Declared subject = declared(s.precision(), claims);
    const Layer layer = norm_layer("batch_norm");
    const Eigen::Index n = 2 + seed % 30;
    const Matrix<float> x = s.values(n, 1, 1, seed % 2 == 0 ? 0 : 20), dy = s.values(n, 1), w = s.values(1, 1),
                        b = s.values(1, 1);
    const ExpectedTensors tensors{{"weight", exactly(w)}, {"bias", exactly(b)}};
    const BoundPass pass{layer, tensors, {n}, subject, {}};
    const auto forward = bound_rule("batch_norm").forward(pass, exactly(x));
    const Statistics m = statistics(s, x, 1e-5f);
    Matrix<float> got = x;
    for (Eigen::Index i = 0; i < n; ++i) got(i, 0) = s.store(((x(i, 0) - m.mean) * m.rstd) * w(0, 0) + b(0, 0));
    mean.hold(forward.mean, Matrix<float>::Constant(1, 1, m.mean));
    var.hold(forward.var, Matrix<float>::Constant(1, 1, m.var));
    rstd.hold(forward.rstd, Matrix<float>::Constant(1, 1, m.rstd));
    y.hold(forward.y, got);
    const auto backward = bound_rule("batch_norm").backward(pass, exactly(x), exactly(dy));
    const Backward back = batch_backward(s, x, dy, w(0, 0), 1e-5f, false);
    dx.hold(backward.dx, back.dx);
    dw.hold(backward.parameters.at("weight"), back.dw);
    db.hold(backward.parameters.at("bias"), back.db);
    Worst wrong;
    wrong.hold(backward.dx, batch_backward(s, x, dy, w(0, 0), 1e-5f, true).dx);
    caught += wrong.over > 0 ? 1 : 0;
  }
  hold("batch_norm mean", mean);
  hold("batch_norm var", var);
  hold("batch_norm rstd", rstd);
  hold("batch_norm y", y);
  hold("batch_norm dx", dx);
  hold("batch_norm dw", dw);
  hold("batch_norm db", db);
  EXPECT_GT(caught, 150u) << "a dropped variance term must leave the bound";
}

struct RowGradient {
  Matrix<float> y, dx, dy_h;
};

RowGradient layer_norm_row(Subject& s, const Matrix<float>& x, const Matrix<float>& dy, const Matrix<float>& w,
                           const Matrix<float>& b) {
  const Statistics m = statistics(s, x, 1e-5f);
  RowGradient out{x, x, x};
  std::vector<float> g, g_h;
  const auto h = [&](Eigen::Index j) { return (x(0, j) - m.mean) * m.rstd; };
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    out.y(0, j) = s.store(h(j) * w(0, j) + b(0, j));
    out.dy_h(0, j) = dy(0, j) * h(j);
    g.push_back(dy(0, j) * w(0, j));
    g_h.push_back(g.back() * h(j));
  }
  const auto share = static_cast<float>(1.0 / static_cast<double>(x.cols()));
  const float m1 = s.sum(g) * share, m2 = s.sum(g_h) * share;
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    out.dx(0, j) = s.store(m.rstd * ((g[static_cast<std::size_t>(j)] - m1) - h(j) * m2));
  }
  return out;
}

TEST_P(NormBound, HoldsLayerNorm) {
  Worst y, dx, dw;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    Subject s(GetParam(), seed);
    const Claims claims;
    const Declared subject = declared(s.precision(), claims);
    const Layer layer = norm_layer("layer_norm");
    const Eigen::Index n = 2 + seed % 30, rows = 1 + seed % 4;
    const Matrix<float> x = s.values(rows, n, 1, 3), dy = s.values(rows, n), w = s.values(1, n), b = s.values(1, n);
    const ExpectedTensors tensors{{"weight", exactly(w)}, {"bias", exactly(b)}};
    const BoundPass pass{layer, tensors, {rows}, subject, {}};
    const auto forward = bound_rule("layer_norm").forward(pass, exactly(x));
    const auto backward = bound_rule("layer_norm").backward(pass, exactly(x), exactly(dy));
    Matrix<float> got_y = x, got_dx = x, dy_h = x, weight(1, n);
    for (Eigen::Index i = 0; i < rows; ++i) {
      const RowGradient row = layer_norm_row(s, x.row(i), dy.row(i), w, b);
      got_y.row(i) = row.y;
      got_dx.row(i) = row.dx;
      dy_h.row(i) = row.dy_h;
    }
    for (Eigen::Index j = 0; j < n; ++j) {
      const Matrix<float> column = dy_h.col(j);
      weight(0, j) = s.store(s.sum(elements(column)));
    }
    y.hold(forward.y, got_y);
    dx.hold(backward.dx, got_dx);
    dw.hold(backward.parameters.at("weight"), weight);
  }
  hold("layer_norm y", y);
  hold("layer_norm dx", dx);
  hold("layer_norm dw", dw);
}

TEST(NormStatistics, AreRefusedWithoutABound) {
  Claims claims;
  claims.kernels["batch_norm.statistics"] = {.variant = "fast", .algorithm = "three_pass"};
  const Declared subject = declared(Precision{}, claims);
  const Layer layer = norm_layer("batch_norm");
  Subject s(Dtype::fp32, 1);
  const ExpectedTensors tensors{{"weight", exactly(s.values(1, 1))}, {"bias", exactly(s.values(1, 1))}};
  const BoundPass pass{layer, tensors, {4}, subject, {}};
  EXPECT_THROW(bound_rule("batch_norm").forward(pass, exactly(s.values(4, 1))), std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(Formats, NormBound, testing::ValuesIn(emulation::storages),
                         [](const auto& drawn) { return std::string(name_of(drawn.param)); });

}  // namespace
}  // namespace tally::oracle::norm_bounds_test
