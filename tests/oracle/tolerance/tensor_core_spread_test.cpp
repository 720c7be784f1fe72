// What truncation leaves on the bit models of tensor cores, against the spread that the statistical lens reads.
#include <numbers>

#include "oracle/tolerance/gemm.hpp"
#include "tests/oracle/emulated/dots.hpp"

namespace tally::oracle::tensor_core_spread_test {
namespace {

using emulated::Blocks;
using emulated::Dot;
using emulated::each_dot;
using emulated::Generation;
using emulated::generations;
using emulated::precision_of;

constexpr double failure = 1e-9, warning = 1e-3;  // chances, oracle/spread.md

/// The part of a bound that is not random, and the standard unit.
struct Spread {
  double fixed, sigma;
};

Claims claims_of(const Generation& g) {
  Claims claims;
  claims.tensor_cores = true;
  claims.tensor_core = g.name;
  return claims;
}

Spread spread_of(const Dot& dot, const Claims& claims, Dtype storage) {
  const auto k = static_cast<Eigen::Index>(dot.a.size());
  BoundedMatrix a(1, k), b(k, 1);
  a.e.setZero();
  b.e.setZero();
  for (Eigen::Index i = 0; i < k; ++i) {
    a.v(0, i) = dot.a[static_cast<std::size_t>(i)];
    b.v(i, 0) = dot.b[static_cast<std::size_t>(i)];
  }
  const BoundedMatrix z = product(declared(precision_of(storage), claims), a, b);
  return {z.e(0, 0) - z.r(0, 0), std::sqrt(z.s(0, 0))};
}

long double exact(const Dot& dot) {
  long double sum = 0;
  for (std::size_t i = 0; i < dot.a.size(); ++i) sum += static_cast<long double>(dot.a[i]) * dot.b[i];
  return sum;
}

TEST(TensorCoreSpread, HoldsEveryGenerationsTruncationsInEveryClassOfData) {
  double worst = 0, comparisons = 0;
  for (const Generation& g : generations) {
    if (std::string(g.name) == "unknown") continue;
    for (const Dtype storage : {Dtype::fp16, Dtype::bf16}) {
      const Blocks core{g.terms, g.fraction_bits, format_of(storage), format_of(Dtype::fp32)};
      each_dot(format_of(storage), format_of(storage), [&](const Dot& dot, std::mt19937_64&) {
        const Spread spread = spread_of(dot, claims_of(g), storage);
        const auto error =
            static_cast<double>(std::fabs(static_cast<long double>(emulated::dot(core, dot.a, dot.b)) - exact(dot)));
        if (!(spread.sigma > 0 && spread.sigma < INFINITY) || !std::isfinite(spread.fixed)) return;
        ASSERT_TRUE(std::isfinite(error)) << g.name;
        worst = std::max(worst, (error - spread.fixed) / spread.sigma);
        ++comparisons;
      });
    }
  }
  std::printf("  %g dot products, largest z %.3f\n", comparisons, worst);
  ASSERT_GT(comparisons, 0);
  const double log_chance = std::numbers::ln2 + std::log(comparisons) - worst * worst / 2;
  EXPECT_GE(log_chance, std::log(warning)) << "less likely than a warning";
}

/// Enough products: what is held for certain apart from one campaign's chance lies below the hard bound.
TEST(TensorCoreSpread, IsSharperThanTheBoundOverLongSums) {
  const double z = std::sqrt(2 * (std::numbers::ln2 + std::log(0x1p30) - std::log(failure)));
  for (const Generation& g : generations) {
    if (std::string(g.name) == "unknown") continue;
    for (const double k : {1024.0, 4096.0}) {
      const Claims claims = claims_of(g);
      const Accumulation sum = accumulation(declared(precision_of(Dtype::bf16), claims), k);
      EXPECT_LT(sum.kappa - sum.random + z * std::sqrt(sum.spread), sum.kappa) << g.name << " " << k;
    }
  }
}

TEST(TensorCoreSpread, SaysNothingOfAnUndeclaredGeneration) {
  Claims claims;
  claims.tensor_cores = true;
  EXPECT_EQ(accumulation(declared(precision_of(Dtype::bf16), claims), 4096).random, 0);
}

}  // namespace
}  // namespace tally::oracle::tensor_core_spread_test
