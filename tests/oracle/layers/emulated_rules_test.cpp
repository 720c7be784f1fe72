// Rules without variants over formats x orders x classes of data: column sums, batch_norm's gradients, squared error
// and the norm, by an emulated subject. Variants have tests of their own (tests/oracle/tolerance, losses, window).
#include "oracle/tolerance/gemm.hpp"
#include "oracle/window/bound_stages.hpp"
#include "tests/oracle/emulated/machine.hpp"
#include "tests/oracle/emulated/table.hpp"

namespace tally::oracle::emulated_rules_test {
namespace {

using emulated::Data;
using emulated::Machine;
using emulated::Order;
using emulated::Table;
using emulation::exactly;
using Vector = std::vector<double>;

const Format fp32 = format_of(Dtype::fp32);

Matrix<float> one(double x) { return Matrix<float>::Constant(1, 1, static_cast<float>(x)); }

Matrix<float> column(const Vector& x) {
  Matrix<float> m(static_cast<Eigen::Index>(x.size()), 1);
  for (std::size_t i = 0; i < x.size(); ++i) m(static_cast<Eigen::Index>(i), 0) = static_cast<float>(x[i]);
  return m;
}

Vector stored(const Format& format, Vector x) {
  for (double& value : x) value = rounded(format, value);
  return x;
}

/// f(storage, data, x, dy, machine) for every format, order and class of data.
template <class F>
void each_column(F&& f) {
  std::mt19937_64 random(13);
  for (const Dtype storage : emulation::storages) {
    for (const Data data : emulated::data_classes) {
      for (int i = 0; i < 40; ++i) {
        const std::size_t n = 2 + random() % 90;
        const Vector x = emulated::drawn(data, format_of(storage), fp32, n, random);
        const Vector dy = emulated::drawn(data, format_of(storage), fp32, n, random);
        for (const Order order : emulated::orders) f(storage, data, x, dy, Machine(fp32, order, random));
      }
    }
  }
}

std::string named(const char* rule, Dtype storage) { return std::string(rule) + " " + std::string(name_of(storage)); }

TEST(EmulatedRules, HoldColumnSumsAndNorms) {
  Table table("column sums and the two-norm");
  Choice clip{"global_norm", {{"max_norm", Decimal{"1"}}, {"norm", std::string("2")}, {"epsilon", Decimal{"1e-6"}}}};
  const Claims claims;
  each_column([&](Dtype storage, Data data, const Vector& x, const Vector&, const Machine& m) {
    const Expected given = exactly(column(x));
    const double sum = rounded(format_of(storage), m.sum(x));
    const Declared subject = declared(Precision{}, claims);
    const BoundedMatrix sums = column_sums(subject, BoundedMatrix(subject, given), KernelClaim{});
    const Expected bound = joined(subject, given.v.colwise().sum(), oracle::stored(subject, format_of(storage), sums));
    table.hold(named("column sum", storage), data, bound, one(sum));
    table.hold(named("two-norm", storage), data, norm(subject, clip, {{"g", given}}), one(m.sqrt(m.dot(x, x))));
  });
  table.expect_sound();
}

TEST(EmulatedRules, HoldSquaredErrors) {
  Table table("mse");
  const Choice loss{"mse", {{"item_weights", true}}};
  const Claims claims;
  each_column([&](Dtype storage, Data data, const Vector& y, const Vector& target, const Machine& m) {
    Precision precision;
    precision.storage = storage;
    const Matrix<float> row = column(y).transpose(), wanted = column(target).transpose();
    const auto features = static_cast<double>(y.size());
    const double share = m.round(1 / features), slope = m.round(2 / features), factor = m.round(0.3);
    Vector squares, dy;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double d = m.sub(y[i], target[i]);
      squares.push_back(m.mul(d, d));
      dy.push_back(rounded(format_of(storage), m.mul(factor, m.mul(d, slope))));
    }
    const Matrix<long double> weight = Matrix<long double>::Ones(1, 1);
    const auto bound = loss_bound_rule("mse").evaluate(loss, declared(precision, claims), exactly(row),
                                                       wanted.cast<long double>(), weight, exactly(one(factor)));
    table.hold(named("loss", storage), data, bound.loss, one(m.mul(m.sum(squares), share)));
    table.hold(named("dy", storage), data, bound.dy, column(dy).transpose());
  });
  table.expect_sound();
}

/// kernels/arithmetic.md, batch_norm backward without an affine part: dx, with two-pass statistics.
Vector batch_norm_gradient(const Machine& m, const Vector& x, const Vector& dy) {
  const double share = m.round(1 / static_cast<double>(x.size())), mean = m.mul(m.sum(x), share);
  Vector squares, h, products;
  for (const double value : x) squares.push_back(m.mul(m.sub(value, mean), m.sub(value, mean)));
  const double variance = m.mul(m.sum(squares), share);
  const double rstd = m.div(1, m.sqrt(m.add(variance, static_cast<float>(1e-5))));
  for (std::size_t i = 0; i < x.size(); ++i) {
    h.push_back(m.mul(m.sub(x[i], mean), rstd));
    products.push_back(m.mul(dy[i], h[i]));
  }
  const double mean_dy = m.mul(m.sum(dy), share), mean_dy_h = m.mul(m.sum(products), share);
  Vector dx;
  for (std::size_t i = 0; i < x.size(); ++i) {
    dx.push_back(m.mul(rstd, m.sub(m.sub(dy[i], mean_dy), m.mul(h[i], mean_dy_h))));
  }
  return dx;
}

TEST(EmulatedRules, HoldTheGradientThroughStatistics) {
  Table table("batch_norm and layer_norm, dx");
  for (const char* kind : {"batch_norm", "layer_norm"}) {
    Layer layer;
    layer.kind = kind;
    layer.options = {{"eps", Decimal{"1e-5"}}, {"momentum", Decimal{"0.1"}}, {"affine", false}};
    const bool rows = layer.kind == "layer_norm";
    if (!rows) layer.options["statistics"] = std::string("micro_batch");
    Claims claims;
    for (const char* operation : {"batch_norm.statistics", "layer_norm.forward"}) {
      claims.kernels[operation] = {.variant = "emulated", .algorithm = "two_pass"};
    }
    each_column([&](Dtype storage, Data data, const Vector& x, const Vector& dy, const Machine& m) {
      Precision precision;
      precision.storage = storage;
      const Declared subject = declared(precision, claims);
      const ExpectedTensors none;
      const Matrix<float> in = rows ? column(x).transpose() : column(x);
      const Matrix<float> gradient = rows ? column(dy).transpose() : column(dy);
      const Matrix<float> found = column(stored(format_of(storage), batch_norm_gradient(m, x, dy)));
      const BoundPass pass{layer, none, {in.rows()}, subject, {}};
      const auto bound = bound_rule(kind).backward(pass, exactly(in), exactly(gradient));
      table.hold(named(kind, storage), data, bound.dx, rows ? found.transpose() : found);
    });
  }
  table.expect_sound();
}

}  // namespace
}  // namespace tally::oracle::emulated_rules_test
