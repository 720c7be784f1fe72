// Moments of ranks merged in fp32 as PyTorch's SyncBatchNorm merges them: mean and variance stay inside the bound, whatever
// the counts, from the parts' moments as they are handed over and from the rows of all ranks on.
#include "oracle/case/ranks.hpp"
#include "oracle/exact/standardise.hpp"
#include "oracle/tolerance/moments.hpp"
#include "oracle/window/rank_stages.hpp"
#include "tests/oracle/emulated/machine.hpp"
#include "tests/oracle/emulated/table.hpp"
#include "tests/oracle/undeclared.hpp"

namespace tally::oracle::merged_moments_test {
namespace {

using emulated::Data;
using emulated::Machine;
using emulated::Order;
using emulated::Table;
using emulation::exactly;
using Vector = std::vector<double>;

const Format fp32 = format_of(Dtype::fp32);

struct Held {
  double count, mean, var;
};

struct Statistics {
  double mean, var;
};

Statistics merged(const Machine& m, const std::vector<Held>& parts) {
  double n = 0, avg = 0, squares = 0;
  for (const Held& part : parts) {
    const double c = part.count, f = m.div(1, n + c), d = m.sub(avg, part.mean);
    const double between = m.mul(m.mul(m.mul(m.mul(d, d), n), c), f);
    squares = m.add(squares, m.add(m.mul(part.var, c), between));
    avg = m.add(m.mul(m.mul(n, f), avg), m.mul(m.mul(c, f), part.mean));
    n += c;
  }
  return {avg, m.div(squares, n)};
}

/// Of what was handed over, without rounding.
std::pair<long double, long double> exact_of(const std::vector<Held>& parts) {
  long double n = 0, mean = 0, var = 0;
  for (const Held& part : parts) n += static_cast<long double>(part.count);
  for (const Held& part : parts) mean += static_cast<long double>(part.count) * part.mean / n;
  for (const Held& part : parts)
    var += static_cast<long double>(part.count) / n * (part.var + (part.mean - mean) * (part.mean - mean));
  return {mean, var};
}

std::vector<Held> drawn_parts(Data data, std::mt19937_64& random) {
  std::vector<Held> parts(1 + random() % 40);
  const Vector means = emulated::drawn(data, fp32, fp32, parts.size(), random);
  const Vector vars = emulated::drawn(data, fp32, fp32, parts.size(), random);
  const bool like_one = random() % 4 == 0;  // nothing within the ranks: all of it lies between them
  for (std::size_t r = 0; r < parts.size(); ++r)
    parts[r] = {static_cast<double>(1 + random() % (random() % 2 == 0 ? 4 : 999)), means[r],
                like_one ? 0 : std::fabs(vars[r])};
  return parts;
}

TEST(MergedMoments, StayInsideTheBoundOfWhatWasHandedOver) {
  Table table("moments of ranks, as handed over");
  std::mt19937_64 random(11);
  for (const Data data : emulated::data_classes)
    for (int i = 0; i < 2000; ++i) {
      const std::vector<Held> held = drawn_parts(data, random);
      std::vector<Moment> parts;
      for (const Held& part : held) parts.push_back({part.count, {part.mean, 0}, {part.var, 0}});

      const MeanAndVariance bound = merged_moments(undeclared(), parts);
      const Statistics found = merged(Machine(fp32, Order::sequential, random), held);

      const auto [mean, var] = exact_of(held);
      if (!decided(bound.mean) || !decided(bound.variance)) continue;
      table.hold("mean", data, mean, bound.mean.e, found.mean);
      table.hold("var", data, var, bound.variance.e, found.var);
    }
  table.expect_sound();
}

/// Equal means of one sign that no weight holds exactly: every rounding of the weights shows.
TEST(MergedMoments, ComeNearTheirBound) {
  Table table("moments of ranks, equal means");
  std::mt19937_64 random(12);
  for (int i = 0; i < 20000; ++i) {
    std::vector<Held> held(2 + random() % 3);
    const double mean = static_cast<float>(1 + static_cast<double>(random() % 1000000) * 0x1p-20);
    for (Held& part : held) part = {static_cast<double>(1 + random() % 99), mean, mean};
    std::vector<Moment> parts;
    for (const Held& part : held) parts.push_back({part.count, {part.mean, 0}, {part.var, 0}});

    const MeanAndVariance bound = merged_moments(undeclared(), parts);
    const Statistics found = merged(Machine(fp32, Order::sequential, random), held);

    const auto [exact_mean, exact_var] = exact_of(held);
    table.hold("mean", emulated::data_classes[0], exact_mean, bound.mean.e, found.mean);
    table.hold("var", emulated::data_classes[0], exact_var, bound.variance.e, found.var);
  }
  table.expect_sound();
}

TEST(MergedMoments, PassOverPartsWithoutValuesAndKeepOneAsItIs) {
  const std::vector<Moment> some{{0, {1e30, 0}, {1, 0}}, {3, {2, 0}, {0.5, 0}}, {0, {NAN, 0}, {NAN, 0}}},
      one{{3, {2, 0}, {0.5, 0}}};

  const MeanAndVariance with = merged_moments(undeclared(), some), without = merged_moments(undeclared(), one);

  EXPECT_EQ(with.mean.v, 2);
  EXPECT_EQ(with.variance.v, 0.5);
  EXPECT_EQ(with.mean.e, without.mean.e);
  EXPECT_EQ(with.variance.e, without.variance.e);
}

// From the rows on, by each way of sharing.

struct Ranks {
  std::vector<Vector> rows;
  Vector all() const {
    Vector together;
    for (const Vector& own : rows) together.insert(together.end(), own.begin(), own.end());
    return together;
  }
};

Ranks drawn_ranks(Data data, std::mt19937_64& random) {
  Ranks ranks;
  const std::size_t count = 1 + random() % 6;
  const Vector all = emulated::drawn(data, fp32, fp32, 2 + random() % 120, random);
  for (std::size_t r = 0; r < count; ++r) ranks.rows.emplace_back();
  for (std::size_t i = 0; i < all.size(); ++i) ranks.rows[random() % 3 == 0 ? 0 : random() % count].push_back(all[i]);
  return ranks;
}

double mean_of(const Machine& m, const Vector& x) {
  return m.mul(m.sum(x), m.round(1 / static_cast<double>(x.size())));
}

Vector squares_around(const Machine& m, const Vector& x, double mean) {
  Vector squares;
  for (const double value : x) squares.push_back(m.mul(m.sub(value, mean), m.sub(value, mean)));
  return squares;
}

Statistics by_moments(const Machine& m, const Ranks& ranks) {
  std::vector<Held> parts;
  for (const Vector& own : ranks.rows) {
    if (own.empty()) continue;
    const double n = static_cast<double>(own.size()), mean = mean_of(m, own);
    parts.push_back({n, mean, m.mul(m.sum(squares_around(m, own, mean)), m.round(1 / n))});
  }
  return merged(m, parts);
}

double over_ranks(const Machine& m, const Vector& sums) {
  double total = sums.front();
  for (std::size_t r = 1; r < sums.size(); ++r) total = m.add(total, sums[r]);
  return total;
}

template <class Own>
double summed(const Machine& m, const Ranks& ranks, Own own) {
  Vector sums;
  for (const Vector& rows : ranks.rows) sums.push_back(rows.empty() ? 0 : m.sum(own(rows)));
  return over_ranks(m, sums);
}

Statistics by_sums(const Machine& m, const Ranks& ranks) {
  const double share = m.round(1 / static_cast<double>(ranks.all().size()));
  const double mean = m.mul(summed(m, ranks, [](const Vector& x) { return x; }), share);
  const double square = m.mul(summed(m, ranks, [&](const Vector& x) { return squares_around(m, x, 0); }), share);
  return {mean, std::max(0.0, m.sub(square, m.mul(mean, mean)))};
}

Statistics by_two_passes(const Machine& m, const Ranks& ranks) {
  const double share = m.round(1 / static_cast<double>(ranks.all().size()));
  const double mean = m.mul(summed(m, ranks, [](const Vector& x) { return x; }), share);
  return {mean, m.mul(summed(m, ranks, [&](const Vector& x) { return squares_around(m, x, mean); }), share)};
}

struct Way {
  const char* name;
  StepStatistics by;
  Statistics (*compute)(const Machine&, const Ranks&);
};
const Way ways[] = {{"moments", StepStatistics::moments, by_moments},
                    {"sums", StepStatistics::sums, by_sums},
                    {"two_pass", StepStatistics::two_pass, by_two_passes}};

Layer batch_norm() {
  Layer layer;
  layer.kind = "batch_norm";
  layer.name = "norm";
  layer.options = {{"eps", Decimal{"1e-5"}},
                   {"momentum", Decimal{"0.1"}},
                   {"affine", false},
                   {"statistics", std::string("micro_step")}};
  return layer;
}

Expected rows_of(const Vector& x) {
  Matrix<float> column(static_cast<Eigen::Index>(x.size()), 1);
  for (std::size_t i = 0; i < x.size(); ++i) column(static_cast<Eigen::Index>(i), 0) = static_cast<float>(x[i]);
  return exactly(column);
}

/// Rows that the subject holds a little off from those that are meant, each by no more than its bound.
Vector moved(const Vector& meant, const Vector& off, std::mt19937_64& random) {
  Vector held = meant;
  for (std::size_t i = 0; i < held.size(); ++i)
    held[i] = static_cast<float>(held[i] + off[i] * (static_cast<double>(random() % 2001) / 1000 - 1));
  return held;
}

TEST(StepStatistics, StayInsideTheBoundOfTheRowsOfAllRanks) {
  const Layer layer = batch_norm();
  Claims claims;
  claims.kernels["batch_norm.statistics"] = {.variant = "emulated", .algorithm = "two_pass"};
  const Declared subject = declared(Precision{}, claims);
  for (const bool off : {false, true})
    for (const Way& way : ways) {
      Table table(std::string(way.name) + (off ? " of rows that were moved" : " of rows as they are"));
      std::mt19937_64 random(13);
      for (const Data data : emulated::data_classes)
        for (int i = 0; i < 200; ++i) {
          const Ranks meant = drawn_ranks(data, random);
          Ranks held;
          std::vector<Expected> rows;
          for (const Vector& own : meant.rows) {
            Vector reach(own.size(), 0);
            for (std::size_t k = 0; off && k < own.size(); ++k) reach[k] = std::fabs(own[k]) * 0x1p-12;
            held.rows.push_back(moved(own, reach, random));
            rows.push_back(rows_of(own));
            for (std::size_t k = 0; k < own.size(); ++k)
              rows.back().e(static_cast<Eigen::Index>(k), 0) =
                  std::max(reach[k], std::fabs(held.rows.back()[k] - own[k]));
          }
          const PooledStatistics bound = pooled_statistics(subject, layer, way.by, rows);
          for (const Order order : emulated::orders) {
            const Statistics found = way.compute(Machine(fp32, order, random), held);
            table.hold(std::string("mean ") + name_of(order), data, bound.mean,
                       Matrix<float>::Constant(1, 1, static_cast<float>(found.mean)));
            table.hold(std::string("var ") + name_of(order), data, bound.var,
                       Matrix<float>::Constant(1, 1, static_cast<float>(found.var)));
          }
        }
      table.expect_sound();
    }
}

/// A row that may have overflowed leaves nothing decided, and one that has no number.
TEST(StepStatistics, AreUndecidedWhereARowIs) {
  const Declared subject = declared(Precision{}, Claims{});
  for (const Way& way : ways) {
    std::vector<Expected> rows{rows_of({1, 2}), rows_of({3}), rows_of({})};
    rows[1].e(0, 0) = infinite;

    const PooledStatistics open = pooled_statistics(subject, batch_norm(), way.by, rows);
    rows[1].e(0, 0) = 0;
    rows[1].v(0, 0) = NAN;
    const PooledStatistics lost = pooled_statistics(subject, batch_norm(), way.by, rows);

    for (const Expected* each : {&open.mean, &open.var, &open.rstd}) EXPECT_EQ(each->e(0, 0), infinite) << way.name;
    EXPECT_TRUE(std::isnan(lost.mean.v(0, 0))) << way.name;
    EXPECT_EQ(lost.mean.e(0, 0), 0) << way.name;
  }
}

}  // namespace
}  // namespace tally::oracle::merged_moments_test
