// What judging one window costs at ordinary sizes: linear layers with ReLU between them, cross-entropy, clip by norm,
// SGD with momentum, fp32, four micro-batches. tests/benchmarks/beside_peers.py puts PyTorch's check beside it.
#include <benchmark/benchmark.h>

#include "kernels/training_step/run/run.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally {
namespace {

constexpr int micro_batches = 4;

/// Layers of these sizes; `rows` in all.
Case case_of(const std::vector<std::int64_t>& sizes, std::int64_t rows) {
  Case c = small_case();
  c.model.input = sizes.front();
  c.model.layers.clear();
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    c.model.layers.push_back(layer_of("linear", "fc" + std::to_string(i), {{"out", sizes[i]}}));
    if (i + 1 < sizes.size()) c.model.layers.push_back(layer_of("relu", ""));
  }
  c.windows = {std::vector<std::int64_t>(micro_batches, rows / micro_batches)};
  c.recipe.optimizer = choice_of("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}});
  c.recipe.clip = choice_of("clip", "global_norm", {{"max_norm", Decimal{"1"}}});
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 1);
  return c;
}

struct Judged {
  Case c;
  Trace trace;
};

/// Width 0: the small network, 16-32-8. Kept, as every benchmark of a size reads it.
const Judged& judged(std::int64_t width, std::int64_t rows) {
  static std::map<std::pair<std::int64_t, std::int64_t>, Judged> all;
  const auto [found, fresh] = all.try_emplace({width, rows});
  if (fresh) {
    const std::vector<std::int64_t> small{16, 32, 8}, wide{width, width, width, 10};
    found->second.c = case_of(width == 0 ? small : wide, rows);
    found->second.trace = run(found->second.c);
    found->second.trace.claims = {};  // as a capture of any other loop: no order declared, no bits predicted
  }
  return found->second;
}

void local(benchmark::State& state) {
  const auto& [c, trace] = judged(state.range(0), state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(local_lens(c, trace));
}

void all_lenses(benchmark::State& state) {
  const auto& [c, trace] = judged(state.range(0), state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(hard_lenses(c, trace, Grouping::declared));
}

void each_size(benchmark::internal::Benchmark* b) {
  b->ArgNames({"width", "rows"})->Unit(benchmark::kMillisecond);
  b->Args({0, 16});
  for (const std::int64_t width : {256, 512, 1024}) b->Args({width, 64});
  b->Args({256, 1024});
}
BENCHMARK(local)->Apply(each_size);
BENCHMARK(all_lenses)->Apply(each_size);

}  // namespace
}  // namespace tally
