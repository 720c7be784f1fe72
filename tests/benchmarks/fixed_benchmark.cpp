// Products in fixed point beside products of doubles by OpenBLAS on one thread and Arb's products of balls, n x n. The
// figure is the ratio to OpenBLAS in the same run: ask for random interleaving.
#include <arb_mat.h>
#include <benchmark/benchmark.h>
#include <cblas.h>

#include "oracle/fixed_point/enclosures.hpp"
#include "tests/oracle/fixed/operands.hpp"

namespace tally::oracle::fixed {
namespace {

struct Long {
  Long(Eigen::Index n, int limbs)
      : left(drawn.lengthened(fixed_point(drawn.spread(n, n, 0), limbs, Scaled::by_rows))),
        right(drawn.lengthened(fixed_point(drawn.spread(n, n, 0), limbs, Scaled::by_columns))) {}
  Drawn drawn{1};
  FixedMatrix left, right;
};

void doubles_by_openblas(benchmark::State& state) {
  const auto n = static_cast<int>(state.range(0));
  Drawn drawn(1);
  const Matrix<double> a = drawn.spread(n, n, 0), b = drawn.spread(n, n, 0);
  Matrix<double> c(n, n);
  openblas_set_num_threads(1);
  for (auto _ : state) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(doubles_by_openblas)->ArgName("n")->RangeMultiplier(2)->Range(128, 1024)->Unit(benchmark::kMillisecond);

template <Route route>
void fixed_product(benchmark::State& state) {
  if (!available(route)) return state.SkipWithError("this processor has no AVX-512 IFMA");
  const Long operands(state.range(0), static_cast<int>(state.range(1)));
  for (auto _ : state) benchmark::DoNotOptimize(product(operands.left, operands.right, route));
}
void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"n", "limbs"})->ArgsProduct({{128, 256, 512, 1024}, {3, 5, 7}})->Unit(benchmark::kMillisecond);
}
BENCHMARK(fixed_product<Route::ifma>)->Apply(sizes);
BENCHMARK(fixed_product<Route::blas>)->Apply(sizes);
BENCHMARK(fixed_product<Route::exact>)
    ->ArgNames({"n", "limbs"})
    ->ArgsProduct({{128, 256}, {3, 5, 7}})
    ->Unit(benchmark::kMillisecond);

/// From doubles by rows and by columns: what a caller pays before the product.
void conversion(benchmark::State& state) {
  Drawn drawn(1);
  const Matrix<double> values = drawn.spread(state.range(0), state.range(0), 0);
  const auto limbs = static_cast<int>(state.range(1));
  for (auto _ : state) {
    benchmark::DoNotOptimize(fixed_point(values, limbs, Scaled::by_rows));
    benchmark::DoNotOptimize(fixed_point(values, limbs, Scaled::by_columns));
  }
}
BENCHMARK(conversion)->ArgNames({"n", "limbs"})->ArgsProduct({{256}, {3, 5, 7}})->Unit(benchmark::kMillisecond);

void balls_by_arb(benchmark::State& state) {
  const slong n = state.range(0), bits = state.range(1);
  arb_mat_t a, b, c;
  for (auto* matrix : {a, b, c}) arb_mat_init(matrix, n, n);
  flint_rand_t random;
  flint_randinit(random);
  for (auto* matrix : {a, b})
    for (slong i = 0; i < n * n; ++i) arb_urandom(arb_mat_entry(matrix, i / n, i % n), random, bits);
  for (auto _ : state) arb_mat_mul(c, a, b, bits);
  for (auto* matrix : {a, b, c}) arb_mat_clear(matrix);
  flint_randclear(random);
}
BENCHMARK(balls_by_arb)
    ->ArgNames({"n", "bits"})
    ->ArgsProduct({{128, 256, 512}, {113, 237, 332}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tally::oracle::fixed
