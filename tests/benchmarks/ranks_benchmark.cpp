// What ranks cost beside one rank with as many rows as each of them has: the run in one process, and run and judgement.
// 16-32-8, cross-entropy, two micro-batches of four rows a rank, clip by norm, SGD with momentum, fp32. And a pipeline
// of many stages, a small layer each: what building them takes.
#include <benchmark/benchmark.h>

#include <numeric>
#include <string>

#include "kernels/ranks/fibres.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/rank_keys.hpp"
#include "properties/laws/judge.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally {
namespace {

constexpr std::int64_t rows = 4, micro_batches = 2;

Case case_of(std::int64_t ranks, const std::string& sharding) {
  Case c = small_case();
  c.model.input = 16;
  c.model.layers = {layer_of("linear", "fc1", {{"out", std::int64_t{32}}}), layer_of("relu", ""),
                    layer_of("linear", "fc2", {{"out", std::int64_t{8}}})};
  c.windows = {std::vector<std::int64_t>(static_cast<std::size_t>(ranks * micro_batches), rows)};
  if (ranks > 1) c.dealt = {std::vector<std::int64_t>(static_cast<std::size_t>(ranks), micro_batches)};
  c.recipe.optimizer = choice_of("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}});
  c.recipe.clip = choice_of("clip", "global_norm", {{"max_norm", Decimal{"1"}}});
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 1);
  return ranks > 1 ? with_rank_option(std::move(c), "sharding", sharding) : c;
}

void run_alone(benchmark::State& state, const std::string& sharding) {
  const Case c = case_of(state.range(0), sharding);
  for (auto _ : state) benchmark::DoNotOptimize(run(c));
}

void run_and_judge(benchmark::State& state, const std::string& sharding) {
  const Case c = case_of(state.range(0), sharding);
  for (auto _ : state) benchmark::DoNotOptimize(judge(c, run(c)));
  state.SetItemsProcessed(state.iterations());
}

void run_pipeline(benchmark::State& state) {
  Case c = small_case();
  c.model.layers.clear();
  std::vector<Decimal> cut;
  for (int i = 0; i < state.range(0); ++i) {
    c.model.layers.push_back(layer_of("linear", "fc" + std::to_string(i), {{"out", std::int64_t{2}}}));
    if (i > 0) cut.push_back(Decimal{std::to_string(i)});
  }
  c.windows = {{1}};
  c.tensors.clear();
  fill_tensors(c);
  c = with_rank_option(std::move(c), "pipeline.stages", state.range(0));
  c = with_rank_option(std::move(c), "pipeline.cut", std::move(cut));
  for (auto _ : state) benchmark::DoNotOptimize(run(c));
}

/// Messages that go round a ring of ranks: each hands on what it received, so that every one is a switch.
void switches(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  constexpr int rounds = 1000;
  for (auto _ : state)
    run_ranks_on_fibres(ranks, 0, [&](Link& link) {
      std::byte byte{};
      const std::span<std::byte> bytes(&byte, 1);
      const int next = (link.rank() + 1) % ranks, last = (link.rank() + ranks - 1) % ranks;
      for (int round = 0; round < rounds; ++round) {
        if (link.rank() == 0) link.send(next, "round", bytes);
        link.receive(last, "round", bytes);
        if (link.rank() != 0) link.send(next, "round", bytes);
      }
    });
  state.SetItemsProcessed(state.iterations() * rounds * ranks);
}

BENCHMARK_CAPTURE(run_alone, ddp, "none")->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_alone, zero1, "optimizer")->Arg(2)->Arg(4)->Arg(8)->Arg(16)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_and_judge, ddp, "none")->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run_and_judge, zero1, "optimizer")->Arg(2)->Arg(4)->Arg(8)->Arg(16)->Unit(benchmark::kMicrosecond);
BENCHMARK(run_pipeline)->Arg(16)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK(switches)->Arg(2)->Arg(16);

}  // namespace
}  // namespace tally
