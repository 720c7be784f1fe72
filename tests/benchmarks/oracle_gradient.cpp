// The gradient of one window: 64-32-10 with batch_norm, ReLU and cross-entropy, 64 rows.
#include <benchmark/benchmark.h>

#include "oracle/exact/answer.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/real/product.hpp"
#include "oracle/real/real.hpp"
#include "tests/oracle/window/small_case.hpp"

namespace tally::oracle {
namespace {

Case benchmark_case() {
  constexpr std::int64_t rows = 64, in = 64, hidden = 32, out = 10;
  Case c = small_case({std::vector<std::int64_t>(4, rows / 4)}, "window");
  c.model.input = in;
  c.model.layers[0].options["out"] = hidden;
  c.model.layers[2] = {{"relu", {}}, ""};
  c.model.layers.erase(c.model.layers.begin() + 3);  // dropout
  c.model.layers[3].options["out"] = out;
  Matrix<double> target(1, rows);
  for (Eigen::Index r = 0; r < rows; ++r) target(r) = static_cast<double>(r % out);
  c.tensors = {{"x", stored(rows, in, 1)},
               {"target", stored(target, {rows}, Dtype::i64)},
               {"fc1.weight", stored(hidden, in, 2)},
               {"fc1.bias", stored(hidden, 3)},
               {"bn.weight", stored(hidden, 4)},
               {"bn.bias", stored(hidden, 5)},
               {"bn.running_mean", stored(hidden, 6)},
               {"bn.running_var", stored(drawn(1, hidden, 7).cwiseAbs(), {hidden})},
               {"fc2.weight", stored(out, hidden, 8)}};
  return c;
}

template <class T>
void time_gradient(benchmark::State& state) {
  const Case c = benchmark_case();
  const WindowRows<T> rows = window_rows<T>(c, 0, Branch::full_batch);
  const State<T> start = initial_state<T>(c);
  for (auto _ : state) benchmark::DoNotOptimize(window_gradient(c, rows, start, {}));
}

void gradient(benchmark::State& state) {
  const DigitsScope scope(static_cast<unsigned>(state.range(0)));
  time_gradient<Real>(state);
}
BENCHMARK(gradient)->ArgName("digits")->Arg(34)->Arg(50)->Arg(100)->Arg(150)->Unit(benchmark::kMillisecond);

void gradient_in_long_double(benchmark::State& state) { time_gradient<long double>(state); }
BENCHMARK(gradient_in_long_double)->Unit(benchmark::kMillisecond);

void whole_answer(benchmark::State& state) {
  const Case c = benchmark_case();
  for (auto _ : state) benchmark::DoNotOptimize(answer(c, static_cast<unsigned>(state.range(0))));
}
BENCHMARK(whole_answer)->ArgName("digits")->Arg(30)->Unit(benchmark::kMillisecond);

/// 64 x 64, the operands filling their precision.
void matrix_product(benchmark::State& state) {
  const DigitsScope scope(static_cast<unsigned>(state.range(0)));
  const Matrix<Real> a = drawn(64, 64, 1).cast<Real>() / Real(3), b = drawn(64, 64, 2).cast<Real>() / Real(3);
  for (auto _ : state) benchmark::DoNotOptimize(product(a, b));
}
BENCHMARK(matrix_product)->ArgName("digits")->Arg(34)->Arg(100)->Unit(benchmark::kMillisecond);

void matrix_product_by_eigen(benchmark::State& state) {
  const DigitsScope scope(static_cast<unsigned>(state.range(0)));
  const Matrix<Real> a = drawn(64, 64, 1).cast<Real>() / Real(3), b = drawn(64, 64, 2).cast<Real>() / Real(3);
  for (auto _ : state) benchmark::DoNotOptimize(Matrix<Real>(a * b));
}
BENCHMARK(matrix_product_by_eigen)->ArgName("digits")->Arg(34)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tally::oracle
