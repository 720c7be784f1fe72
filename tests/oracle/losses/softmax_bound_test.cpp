// Cross-entropy by every form of softmax: three passes, online over blocks, exp(z - lse), on an emulated subject.
#include "oracle/losses/softmax_bound.hpp"

#include "tests/oracle/emulated/machine.hpp"
#include "tests/oracle/emulated/table.hpp"

namespace tally::oracle::softmax_bound_test {
namespace {

using emulated::Data;
using emulated::Machine;
using emulated::Order;
using emulated::Table;
using emulation::exactly;
using emulation::Worst;
using Vector = std::vector<double>;

const Format fp32 = format_of(Dtype::fp32);

double exp_of(const Machine& m, double x) { return m.function(std::exp(x), 1); }

/// The maximum and the sum of exponentials, and each exponential as the sum held it.
struct Gathered {
  double most, sum;
  Vector exps;
};

Gathered three_pass(const Machine& m, const Vector& z, std::size_t) {
  Gathered g{*std::max_element(z.begin(), z.end()), 0, {}};
  for (const double x : z) g.exps.push_back(exp_of(m, m.sub(x, g.most)));
  g.sum = m.sum(g.exps);
  return g;
}

Gathered online(const Machine& m, const Vector& z, std::size_t blocks) {
  Gathered g{-INFINITY, 0, {}};
  const std::size_t length = (z.size() + blocks - 1) / blocks;
  for (std::size_t i = 0; i < z.size(); i += length) {
    const std::size_t last = std::min(i + length, z.size());
    const double most = std::max(g.most, *std::max_element(z.data() + i, z.data() + last));
    const double scale = i == 0 ? 0 : exp_of(m, m.sub(g.most, most));
    for (double& e : g.exps) e = m.mul(e, scale);
    Vector own;
    for (std::size_t c = i; c < last; ++c) own.push_back(exp_of(m, m.sub(z[c], most)));
    g.exps.insert(g.exps.end(), own.begin(), own.end());
    g.sum = m.add(m.mul(g.sum, scale), m.sum(own));
    g.most = most;
  }
  return g;
}

struct Row {
  double loss;
  Vector dz;
};

Row by_quotient(const Machine& m, const Vector& z, std::size_t target, const Gathered& g, bool reciprocal) {
  const double log_sum = m.function(std::log(g.sum), 1);
  Row row{m.sub(log_sum, m.sub(z[target], g.most)), {}};
  for (std::size_t c = 0; c < z.size(); ++c) {
    const double p = reciprocal ? m.mul(g.exps[c], m.div(1, g.sum)) : m.div(g.exps[c], g.sum);
    row.dz.push_back(m.sub(p, c == target ? 1 : 0));
  }
  return row;
}

Row by_lse(const Machine& m, const Vector& z, std::size_t target, const Gathered& g) {
  const double lse = m.add(g.most, m.function(std::log(g.sum), 1));
  Row row{m.sub(lse, z[target]), {}};
  for (std::size_t c = 0; c < z.size(); ++c) row.dz.push_back(m.sub(exp_of(m, m.sub(z[c], lse)), c == target ? 1 : 0));
  return row;
}

struct Form {
  const char* name;
  Row (*compute)(const Machine&, const Vector&, std::size_t target, std::size_t blocks);
};
const Form forms[] = {{"three_pass", [](const Machine& m, const Vector& z, std::size_t t,
                                        std::size_t b) { return by_quotient(m, z, t, three_pass(m, z, b), false); }},
                      {"online", [](const Machine& m, const Vector& z, std::size_t t,
                                    std::size_t b) { return by_quotient(m, z, t, online(m, z, b), true); }},
                      {"lse", [](const Machine& m, const Vector& z, std::size_t t,
                                 std::size_t b) { return by_lse(m, z, t, three_pass(m, z, b)); }},
                      {"online_lse", [](const Machine& m, const Vector& z, std::size_t t, std::size_t b) {
                         return by_lse(m, z, t, online(m, z, b));
                       }}};

Claims claims_of(const std::string& algorithm, std::size_t blocks) {
  Claims claims;
  claims.kernels["cross_entropy"] = {
      .variant = "emulated", .algorithm = algorithm, .splits = static_cast<std::int64_t>(blocks)};
  return claims;
}

ExpectedLoss expected(const Claims& claims, Dtype storage, const Matrix<float>& z, std::size_t target) {
  Choice loss;
  loss.kind = "cross_entropy";
  loss.options = {
      {"ignore_index", std::int64_t{-100}}, {"label_smoothing", Decimal{"0"}}, {"weight", std::vector<Decimal>{}}};
  Precision precision;
  precision.storage = storage;
  const Matrix<long double> item = Matrix<long double>::Ones(1, 1);
  const Matrix<long double> t = Matrix<long double>::Constant(1, 1, static_cast<long double>(target));
  return loss_bound_rule("cross_entropy")
      .evaluate(loss, declared(precision, claims), exactly(z), t, item, exactly(Matrix<float>::Ones(1, 1)));
}

Matrix<float> row_of(const Vector& x, const Format& format) {
  Matrix<float> m(1, static_cast<Eigen::Index>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i)
    m(0, static_cast<Eigen::Index>(i)) = static_cast<float>(rounded(format, x[i]));
  return m;
}

template <class F>
void each_row(F&& f) {
  std::mt19937_64 random(21);
  for (const Dtype storage : emulation::storages) {
    for (const Data data : emulated::data_classes) {
      for (int i = 0; i < 40; ++i) {
        const std::size_t classes = 2 + random() % 60;
        Vector z = emulated::drawn(data, format_of(storage), format_of(storage), classes, random);
        const double spread = i % 2 == 0 ? 1 : 16;
        for (double& x : z) x = rounded(format_of(storage), data == Data::large_mean ? x + 128 : x * spread);
        f(storage, data, z, random() % classes, 1 + random() % classes, random);
      }
    }
  }
}

TEST(Softmax, HoldsEveryFormInEveryOrder) {
  Table table("cross_entropy by form");
  for (const Form& form : forms) {
    each_row([&](Dtype storage, Data data, const Vector& z, std::size_t target, std::size_t blocks,
                 std::mt19937_64& random) {
      const Matrix<float> logits = row_of(z, fp32);
      const ExpectedLoss own = expected(claims_of(form.name, blocks), storage, logits, target);
      const ExpectedLoss any = expected(claims_of("any", 0), storage, logits, target);
      for (const Order order : {Order::sequential, Order::pairwise, Order::random_tree}) {
        const Row row = form.compute(Machine(fp32, order, random), z, target, blocks);
        const Matrix<float> dz = row_of(row.dz, format_of(storage));
        table.hold(std::string(form.name) + " loss", data, own.loss, row_of({row.loss}, fp32));
        table.hold(std::string(form.name) + " dz", data, own.dy, dz);
        table.hold("undeclared loss", data, any.loss, row_of({row.loss}, fp32));
        table.hold("undeclared dz", data, any.dy, dz);
      }
    });
  }
  table.expect_sound();
}

TEST(Softmax, TellsTheLogSumExpOfLargeLogitsFromThreePasses) {
  std::mt19937_64 random(5);
  std::uint64_t caught = 0;
  for (int i = 0; i < 50; ++i) {
    Vector z = emulated::drawn(Data::ordinary, fp32, fp32, 8, random);
    for (double& x : z) x = rounded(fp32, x + 5000);
    const Row row = by_lse(Machine(fp32, Order::sequential, random), z, 2,
                           three_pass(Machine(fp32, Order::sequential, random), z, 1));
    Worst wrong, right;
    wrong.hold(expected(claims_of("three_pass", 1), Dtype::fp32, row_of(z, fp32), 2).loss, row_of({row.loss}, fp32));
    right.hold(expected(claims_of("lse", 1), Dtype::fp32, row_of(z, fp32), 2).loss, row_of({row.loss}, fp32));
    EXPECT_EQ(right.over, 0u);
    caught += wrong.over;
  }
  EXPECT_GT(caught, 25u);
}

TEST(Softmax, RefusesAFormWithoutABound) {
  EXPECT_THROW(softmax_form({.variant = "x", .algorithm = "taylor"}, 4), std::logic_error);
}

}  // namespace
}  // namespace tally::oracle::softmax_bound_test
