// What the executors cost: per CUDA thread, per wait, and checked beside plain. Compare rows of one run; the table
// stands in kernels/device/executor.md.
#include <benchmark/benchmark.h>

#include "kernels/device/kernel_registry.hpp"
#include "tests/benchmarks/executor_kernels.hpp"

namespace tally {
namespace {

using benchmarks::ExecutorWork;

constexpr std::size_t elements = 1 << 14;

void run_work(benchmark::State& state, const char* operation, int barriers, std::uint64_t schedule) {
  const auto executor = state.range(0) == 0 ? ExecutorKind::host : ExecutorKind::checked;
  if (executor == ExecutorKind::checked && !built_with_checks()) return state.SkipWithError("built without checks");
  Device& on = device(executor);
  const Buffer in(on, "in", Dtype::fp32, elements), out(on, "out", Dtype::fp32, elements);
  on.zero(in.data(), in.bytes());
  Stream stream(on);
  stream.set_schedule_seed(schedule);
  const ExecutorWork work{static_cast<const float*>(in.data()), static_cast<float*>(out.data()), elements, barriers};
  const auto launch = kernel<ExecutorWork>(operation, executor);
  for (auto _ : state) launch(stream, work);
  state.counters["per_thread"] = benchmark::Counter(
      static_cast<double>(elements), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void on_both(benchmark::internal::Benchmark* b) { b->Arg(0)->Arg(1)->ArgName("checked"); }

BENCHMARK_CAPTURE(run_work, no_barrier, "bench.no_barrier", 0, 0)->Apply(on_both);
BENCHMARK_CAPTURE(run_work, one_barrier, "bench.some_barriers", 1, 0)->Apply(on_both);
BENCHMARK_CAPTURE(run_work, eleven_barriers, "bench.some_barriers", 11, 0)->Apply(on_both);
BENCHMARK_CAPTURE(run_work, block_sum, "bench.block_sum", 0, 0)->Apply(on_both);
BENCHMARK_CAPTURE(run_work, tiled_product, "bench.tiled_product", 0, 0)->Apply(on_both);
BENCHMARK_CAPTURE(run_work, no_barrier_drawn, "bench.no_barrier", 0, 1)->Apply(on_both);
BENCHMARK_CAPTURE(run_work, block_sum_drawn, "bench.block_sum", 0, 1)->Apply(on_both);
BENCHMARK_CAPTURE(run_work, tiled_product_drawn, "bench.tiled_product", 0, 1)->Apply(on_both);

}  // namespace
}  // namespace tally
