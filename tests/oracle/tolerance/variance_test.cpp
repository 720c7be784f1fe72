// Statistics by every algorithm of the family, in fp32 as the norm kernels compute them, from inputs of every storage
// format: mean, variance, 1 / sqrt and y of batch_norm stay inside the bound of the algorithm that computed them.
#include "oracle/tolerance/moments.hpp"
#include "tests/oracle/emulated/machine.hpp"
#include "tests/oracle/emulated/table.hpp"
#include "tests/oracle/undeclared.hpp"

namespace tally::oracle::variance_test {
namespace {

using emulated::Data;
using emulated::Machine;
using emulated::Order;
using emulated::Table;
using emulation::exactly;
using emulation::Worst;
using Vector = std::vector<double>;

const Format fp32 = format_of(Dtype::fp32);

struct Statistics {
  double mean, variance;
};

Statistics two_pass(const Machine& m, const Vector& x) {
  const double share = m.round(1 / static_cast<double>(x.size())), mean = m.mul(m.sum(x), share);
  Vector squares;
  for (const double value : x) squares.push_back(m.mul(m.sub(value, mean), m.sub(value, mean)));
  return {mean, m.mul(m.sum(squares), share)};
}

Statistics one_pass(const Machine& m, const Vector& x) {
  const double share = m.round(1 / static_cast<double>(x.size())), mean = m.mul(m.sum(x), share);
  const double difference = m.sub(m.mul(m.dot(x, x), share), m.mul(mean, mean));
  return {mean, std::max(difference, 0.0)};
}

/// A part of the values: how many, their mean, their squared deviations.
struct Part {
  double n, mean, squares;
};

Part updated(const Machine& m, const Part& a, double x, bool divides) {
  const double n = a.n + 1, delta = m.sub(x, a.mean);
  const double step = divides ? m.div(delta, n) : m.mul(delta, m.round(1 / n));
  const double mean = m.add(a.mean, step);
  return {n, mean, m.add(a.squares, m.mul(delta, m.sub(x, mean)))};
}

Part merged(const Machine& m, const Part& a, const Part& b) {
  if (b.n > 2 * a.n) return merged(m, b, a);
  const double n = a.n + b.n, delta = m.sub(b.mean, a.mean), share = m.round(b.n / n);
  const double squared = m.mul(m.mul(delta, delta), m.mul(a.n, share));
  return {n, m.add(a.mean, m.mul(delta, share)), m.add(m.add(a.squares, b.squares), squared)};
}

Part serial(const Machine& m, const Vector& x, std::size_t first, std::size_t last, std::size_t stride) {
  Part part{0, 0, 0};
  for (std::size_t i = first; i < last; i += stride) part = updated(m, part, x[i], m.order() == Order::fused);
  return part;
}

/// Merges of drawn parts, a lane each, along a random tree.
Part by_lanes(const Machine& m, const Vector& x, std::size_t lanes) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < std::min(lanes, x.size()); ++i) parts.push_back(serial(m, x, i, x.size(), lanes));
  while (parts.size() > 1) {
    std::swap(parts[m.random()() % parts.size()], parts.back());
    const Part moved = parts.back();
    parts.pop_back();
    Part& other = parts[m.random()() % parts.size()];
    other = merged(m, other, moved);
  }
  return parts[0];
}

Part halved(const Machine& m, const Vector& x, std::size_t first, std::size_t last) {
  if (last - first == 1) return {1, x[first], 0};
  const std::size_t middle = first + (last - first) / 2;
  return merged(m, halved(m, x, first, middle), halved(m, x, middle, last));
}

Statistics welford(const Machine& m, const Vector& x) {
  Part all{};
  if (m.order() == Order::pairwise) {
    all = halved(m, x, 0, x.size());
  } else if (m.order() == Order::sequential || m.order() == Order::fused) {
    all = serial(m, x, 0, x.size(), 1);
  } else {
    all = by_lanes(m, x, m.order() == Order::random_tree ? x.size() : 1 + m.random()() % 8);
  }
  return {all.mean, m.mul(all.squares, m.round(1 / all.n))};
}

struct Algorithm {
  const char* name;
  Statistics (*compute)(const Machine&, const Vector&);
};
const Algorithm algorithms[] = {{"two_pass", two_pass}, {"one_pass", one_pass}, {"welford", welford}};

Layer layer_of(const char* kind) {
  Layer layer;
  layer.kind = kind;
  layer.name = "norm";
  layer.options = {{"eps", Decimal{"1e-5"}}, {"momentum", Decimal{"0.1"}}, {"affine", false}};
  if (layer.kind == "batch_norm") layer.options["statistics"] = std::string("micro_batch");
  return layer;
}

Matrix<float> column(const Vector& x) {
  Matrix<float> m(static_cast<Eigen::Index>(x.size()), 1);
  for (std::size_t i = 0; i < x.size(); ++i) m(static_cast<Eigen::Index>(i), 0) = static_cast<float>(x[i]);
  return m;
}

Claims claims_of(const std::string& algorithm, bool rsqrt, std::int64_t height = 0) {
  Claims claims;
  const KernelClaim claim{.variant = "emulated", .height = height, .algorithm = algorithm, .rsqrt = rsqrt};
  claims.kernels["batch_norm.statistics"] = claim;
  claims.kernels["layer_norm.forward"] = claim;
  return claims;
}

double inverse_root(const Machine& m, double variance, bool rsqrt) {
  const double w = m.add(variance, static_cast<float>(1e-5));
  return rsqrt ? m.function(1 / std::sqrt(w), 2) : m.div(1, m.sqrt(w));
}

ExpectedForward expected(const char* kind, const Claims& claims, Dtype storage, const Matrix<float>& x) {
  Precision precision;
  precision.storage = storage;
  const Declared subject = declared(precision, claims);
  const Layer layer = layer_of(kind);
  const ExpectedTensors none;
  const BoundPass pass{layer, none, {x.rows()}, subject, {}};
  return bound_rule(kind).forward(pass, exactly(x));
}

Matrix<float> one(double x) { return Matrix<float>::Constant(1, 1, static_cast<float>(x)); }

struct Drawn {
  Vector x;
  Data data;
  Dtype storage;
};

template <class F>
void each_sample(F&& f) {
  std::mt19937_64 random(3);
  for (const Dtype storage : emulation::storages) {
    for (const Data data : emulated::data_classes) {
      for (int i = 0; i < 40; ++i) {
        const std::size_t n = i < 6 ? 2 + static_cast<std::size_t>(i) : 2 + random() % 150;
        f(Drawn{emulated::drawn(data, format_of(storage), fp32, n, random), data, storage}, random);
      }
    }
  }
}

void hold(Table& table, const std::string& rule, const ExpectedForward& bound, const Drawn& drawn,
          const Statistics& found, const Machine& m, bool rsqrt) {
  const double rstd = inverse_root(m, found.variance, rsqrt);
  Vector y;
  for (const double x : drawn.x) y.push_back(rounded(format_of(drawn.storage), m.mul(m.sub(x, found.mean), rstd)));
  table.hold(rule + " mean", drawn.data, bound.mean, one(found.mean));
  table.hold(rule + " var", drawn.data, bound.var, one(found.variance));
  table.hold(rule + " rstd", drawn.data, bound.rstd, one(rstd));
  table.hold(rule + " y", drawn.data, bound.y, column(y));
}

TEST(Variance, HoldsEveryAlgorithmInEveryOrder) {
  Table table("batch_norm by algorithm");
  for (const Algorithm& algorithm : algorithms) {
    const Claims own = claims_of(algorithm.name, false), any = claims_of("", false);
    each_sample([&](const Drawn& drawn, std::mt19937_64& random) {
      const Matrix<float> x = column(drawn.x);
      const auto bound = expected("batch_norm", own, drawn.storage, x);
      const auto family = expected("batch_norm", any, drawn.storage, x);
      ASSERT_GE(family.var.e(0, 0), bound.var.e(0, 0));
      for (const Order order : emulated::orders) {
        const Machine m(fp32, order, random);
        const Statistics found = algorithm.compute(m, drawn.x);
        hold(table, std::string(algorithm.name) + " " + name_of(order), bound, drawn, found, m, false);
      }
      const Machine m(fp32, Order::random_tree, random);
      hold(table, "undeclared", family, drawn, algorithm.compute(m, drawn.x), m, true);
    });
  }
  table.expect_sound();
}

/// Every step is by (n / 2 + 1) / n of the smallest number, which is rounded to all of it.
TEST(Variance, HoldsAMeanWhoseStepsAllUnderflow) {
  Vector x;
  for (int n = 1; n < 100; ++n) x.push_back((n + n / 2) * 0x1p-149);
  Worst worst;
  worst.hold(expected("batch_norm", claims_of("welford", false), Dtype::fp32, column(x)).mean, one(99 * 0x1p-149));
  worst.expect_sound("mean of subnormal values");
}

TEST(Variance, HoldsDeclaredHeights) {
  Table table("heights of trees");
  for (const Algorithm& algorithm : algorithms) {
    each_sample([&](const Drawn& drawn, std::mt19937_64& random) {
      const auto height = static_cast<std::int64_t>(std::ceil(std::log2(static_cast<double>(drawn.x.size()))));
      const auto bound =
          expected("batch_norm", claims_of(algorithm.name, false, height), drawn.storage, column(drawn.x));
      const Machine m(fp32, Order::pairwise, random);
      hold(table, std::string(algorithm.name) + " pairwise", bound, drawn, algorithm.compute(m, drawn.x), m, false);
    });
  }
  table.expect_sound();
}

TEST(Variance, HoldsAReciprocalRootWithinTwoUlp) {
  Table table("1 / sqrt within 2 ulp");
  for (const char* kind : {"batch_norm", "layer_norm"}) {
    const Claims claims = claims_of("two_pass", true);
    each_sample([&](const Drawn& drawn, std::mt19937_64& random) {
      const Matrix<float> x = column(drawn.x), row = x.transpose();
      const bool rows = std::string(kind) == "layer_norm";
      const Machine m(fp32, Order::pairwise, random);
      const Statistics found = two_pass(m, drawn.x);
      const double rstd = inverse_root(m, found.variance, true);
      const auto bound = expected(kind, claims, drawn.storage, rows ? row : x);
      table.hold(std::string(kind) + " rstd", drawn.data, bound.rstd, one(rstd));
    });
  }
  table.expect_sound();
}

TEST(Variance, TellsAQuotientByARootFromAFunctionWithinTwoUlp) {
  std::mt19937_64 random(6);
  const Machine m(fp32, Order::sequential, random);
  const double eps = static_cast<float>(1e-5);
  std::uint64_t caught = 0;
  for (int i = 0; i < 1000; ++i) {
    const double var = m.round(std::ldexp(1 + static_cast<double>(random() % 4096) * 0x1p-12, i % 20));
    const auto exact = 1 / std::sqrt(static_cast<long double>(var) + eps);
    const double by_function = m.function(1 / std::sqrt(m.add(var, eps)), 2), quotient = inverse_root(m, var, false);
    const auto off = [&](double got) { return static_cast<double>(std::fabs(got - exact)); };
    ASSERT_LE(off(by_function), rstd_of(undeclared(), {var, 0}, {eps, 0}, true).e);
    ASSERT_LE(off(quotient), rstd_of(undeclared(), {var, 0}, {eps, 0}, false).e);
    caught += !(off(by_function) <= rstd_of(undeclared(), {var, 0}, {eps, 0}, false).e) ? 1 : 0;
  }
  EXPECT_GT(caught, 100u);
}

TEST(Variance, TellsOnePassFromTwo) {
  std::mt19937_64 random(4);
  std::uint64_t caught = 0;
  for (int i = 0; i < 100; ++i) {
    const Vector x = emulated::drawn(Data::large_mean, fp32, fp32, 20, random);
    const Machine m(fp32, Order::sequential, random);
    Worst wrong;
    wrong.hold(expected("batch_norm", claims_of("two_pass", false), Dtype::fp32, column(x)).var,
               one(one_pass(m, x).variance));
    caught += wrong.over;
  }
  EXPECT_GT(caught, 50u) << "a large mean cancels in one pass";
}

TEST(Variance, KeepsTheRootFiniteWhereTheVarianceIsAllRounding) {
  const Vector x(50, 1000.25);
  std::mt19937_64 random(1);
  const auto bound = expected("batch_norm", claims_of("one_pass", false), Dtype::fp32, column(x));
  const Machine m(fp32, Order::random_tree, random);
  const Statistics found = one_pass(m, x);
  Worst worst;
  worst.hold(bound.rstd, one(inverse_root(m, found.variance, false)));
  EXPECT_EQ(worst.over, 0u);
  EXPECT_LT(bound.rstd.e(0, 0), infinite);
}

TEST(Variance, PassesInputBoundsOnThroughEveryAlgorithm) {
  Table table("moved inputs");
  for (const Algorithm& algorithm : algorithms) {
    each_sample([&](const Drawn& drawn, std::mt19937_64& random) {
      std::uniform_real_distribution<double> within(-1, 1);
      std::vector<Bounded> x;
      Vector moved;
      for (const double value : drawn.x) {
        const double e = std::fabs(value) * 0x1p-10;
        x.push_back({value, e});
        const double other = rounded(fp32, value + 0.999 * e * within(random));
        moved.push_back(std::fabs(other - value) <= e ? other : value);
      }
      const KernelClaim claim{.variant = "emulated", .algorithm = algorithm.name};
      const Claims claims;
      const Moments bound = sample_moments(declared(Precision{}, claims), claim, x, {1, 0});
      const Statistics found = algorithm.compute(Machine(fp32, Order::random_tree, random), moved);
      table.hold(std::string(algorithm.name) + " mean", drawn.data, bound.mean.v, bound.mean.e, found.mean);
      table.hold(std::string(algorithm.name) + " var", drawn.data, bound.var.v, bound.var.e, found.variance);
    });
  }
  table.expect_sound();
}

}  // namespace
}  // namespace tally::oracle::variance_test
