// Gradients of whole networks: balls of fixed size beside OpenBLAS in double, Eigen over Boost's quadruple precision and
// Arb at 113 bits. The figures are ratios in one run: ask for random interleaving.
#include <benchmark/benchmark.h>
#include <cblas.h>
#include <malloc.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>
#include <climits>

#include "oracle/exact/trajectory.hpp"
#include "oracle/fixed_point/product.hpp"
#include "tests/benchmarks/plain_gradient.hpp"

namespace tally::benchmarks {

template <>
Plain<double> plain_product(const Plain<double>& a, bool turned_a, const Plain<double>& b, bool turned_b) {
  const auto rows = static_cast<int>(turned_a ? a.cols() : a.rows()),
             terms = static_cast<int>(turned_a ? a.rows() : a.cols());
  const auto columns = static_cast<int>(turned_b ? b.rows() : b.cols());
  Plain<double> c(rows, columns);
  cblas_dgemm(CblasRowMajor, turned_a ? CblasTrans : CblasNoTrans, turned_b ? CblasTrans : CblasNoTrans, rows, columns,
              terms, 1, a.data(), static_cast<int>(a.cols()), b.data(), static_cast<int>(b.cols()), 0, c.data(),
              columns);
  return c;
}

namespace {

using oracle::Net;
using Quad = boost::multiprecision::cpp_bin_float_quad;

const Net nets[] = {{100, 500, 10, 64, "relu", "mse"},
                    {100, 500, 10, 64, "relu", "cross_entropy"},
                    {100, 500, 10, 64, "tanh", "mse"},
                    {100, 500, 10, 64, "relu", "cross_entropy", "batch_norm"},
                    {784, 512, 10, 4096, "relu", "cross_entropy"}};
constexpr long small_nets = 4;

const Net& net_of(benchmark::State& state) {
  const Net& net = nets[state.range(0)];
  state.SetLabel(net.activation + " " + net.norm + " " + net.loss);
  return net;
}

template <class T>
void plain(benchmark::State& state) {
  openblas_set_num_threads(1);
  PlainGradient<T> gradient(net_of(state));
  for (auto _ : state) {
    gradient.run();
    benchmark::DoNotOptimize(gradient.d_weight1().data());
  }
}

template <class T>
void oracle_gradient(benchmark::State& state, int threads = 1) {
  const Case c = oracle::case_of(net_of(state));
  const oracle::BitsScope bits(113);
  oracle::fixed::Schedule schedule;
  schedule.threads = threads;
  const oracle::fixed::ProductsScope scope(oracle::fixed::fastest_route(), schedule);
  const auto rows = oracle::window_rows<T>(c, 0, oracle::Branch::full_batch);
  const auto start = oracle::initial_state<T>(c);
  for (auto _ : state) benchmark::DoNotOptimize(oracle::window_gradient(c, rows, start, {}));
}

void in_short_balls(benchmark::State& state) {
  oracle_gradient<oracle::ShortBall>(state, static_cast<int>(state.range(1)));
}
void in_balls_of_arb(benchmark::State& state) { oracle_gradient<oracle::Ball>(state); }

BENCHMARK(plain<double>)->DenseRange(0, small_nets)->Unit(benchmark::kMillisecond);
BENCHMARK(plain<Quad>)->DenseRange(0, small_nets - 1)->Unit(benchmark::kMillisecond);
BENCHMARK(in_balls_of_arb)->DenseRange(0, small_nets)->Unit(benchmark::kMillisecond);
BENCHMARK(in_short_balls)
    ->ArgNames({"net", "threads"})
    ->ArgsProduct({benchmark::CreateDenseRange(0, small_nets, 1), {1}})
    ->Args({small_nets, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// Memory that was taken stays with the program, for every contestant: else the kernel clears pages most of the time.
const bool keeps_memory = mallopt(M_TRIM_THRESHOLD, INT_MAX) != 0 && mallopt(M_MMAP_THRESHOLD, INT_MAX) != 0;

}  // namespace
}  // namespace tally::benchmarks
