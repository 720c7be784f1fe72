// What the bounds of one window cost beside the same window in plain Eigen double: batch 64 in four micro-batches,
// cross-entropy, clip by norm, SGD, fp32. Measured together, in one run; the table stands in oracle/speed.md.
#include <benchmark/benchmark.h>

#include <random>

#include "kernels/training_step/run/run.hpp"
#include "oracle/exact/trajectory.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lenses/walk.hpp"
#include "tests/benchmarks/eigen_window.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally {
namespace {

constexpr int rows = 64, micro_batches = 4;
constexpr const char* max_norm = "0.5";

struct Network {
  std::vector<int> sizes;
  bool batch_norm;
};

const Network networks[] = {{{64, 32, 10}, false}, {{100, 500, 10}, false}, {{64, 32, 10}, true}};

Case case_of(const Network& network) {
  Case c = small_case();
  c.model.input = network.sizes.front();
  c.model.layers.clear();
  for (std::size_t i = 1; i < network.sizes.size(); ++i) {
    const std::string n = std::to_string(i);
    c.model.layers.push_back(layer_of("linear", "fc" + n, {{"out", std::int64_t{network.sizes[i]}}}));
    if (i + 1 == network.sizes.size()) break;
    if (network.batch_norm)
      c.model.layers.push_back(layer_of("batch_norm", "bn" + n, {{"statistics", std::string("micro_batch")}}));
    c.model.layers.push_back(layer_of("relu", ""));
  }
  c.windows = {std::vector<std::int64_t>(micro_batches, rows / micro_batches)};
  c.recipe.clip = choice_of("clip", "global_norm", {{"max_norm", Decimal{max_norm}}});
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 1);
  return c;
}

struct Judged {
  Case c;
  Trace trace;
};

const Judged& judged(std::size_t network) {
  static std::map<std::size_t, Judged> all;
  const auto [found, fresh] = all.try_emplace(network);
  if (fresh) {
    found->second.c = case_of(networks[network]);
    found->second.trace = run(found->second.c);
  }
  return found->second;
}

void eigen_double(benchmark::State& state) {
  const Network& network = networks[static_cast<std::size_t>(state.range(0))];
  std::mt19937_64 random(1);
  const benchmarks::Matrix x = benchmarks::Matrix::Random(rows, network.sizes.front());
  std::vector<int> target(rows);
  for (int& t : target) t = static_cast<int>(random() % static_cast<unsigned>(network.sizes.back()));
  benchmarks::EigenWindow window(network.sizes, network.batch_norm);
  for (auto _ : state) {
    benchmark::DoNotOptimize(window.step(x, target, micro_batches, std::strtod(max_norm, nullptr), 0.25));
  }
}

/// The hand-overs of the local lens and its look-ups, no rule called: what is left of it without bounds and values.
void hand_over(benchmark::State& state) {
  const auto& [c, trace] = judged(static_cast<std::size_t>(state.range(0)));
  const std::set<std::string> none;
  for (auto _ : state) {
    Walk walk(c, trace, Lens::local);
    walk.wanted = &none;
    walk_all(walk);
    benchmark::DoNotOptimize(walk.checks);
  }
}

/// Every output's elements held against an expectation: what the lens adds to the bounds after they are there.
void judging(benchmark::State& state) {
  const auto& [c, trace] = judged(static_cast<std::size_t>(state.range(0)));
  std::vector<std::pair<const Tap*, oracle::Expected>> outputs;
  for (const Tap& tap : trace.taps()) {
    if (!tap.name.tensor.starts_with("in.")) outputs.emplace_back(&tap, oracle::as_read(tap.value));
  }
  for (auto _ : state) {
    for (const auto& [tap, expected] : outputs) {
      benchmark::DoNotOptimize(judge({"local", tap->name.text(), tap->name.stage}, expected, tap->value));
    }
  }
}

/// Every rule's bound, the rules' own magnitudes in place of exact values, and nothing judged: the bounds and the
/// hand-overs.
void bounds_of_every_stage(benchmark::State& state) {
  const auto& [c, trace] = judged(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    Walk walk(c, trace, Lens::local);
    walk.declared.asked.bounds_only = true;
    walk.judges = false;
    walk_all(walk);
    benchmark::DoNotOptimize(walk.checks);
  }
}

/// The whole local lens with every rule's bound, the rules' own magnitudes in place of exact values.
void local_lens_bounds_only(benchmark::State& state) {
  const auto& [c, trace] = judged(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    Walk walk(c, trace, Lens::local);
    walk.declared.asked.bounds_only = true;
    walk_all(walk);
    benchmark::DoNotOptimize(walk.checks);
  }
}

/// The exact window in long double.
void exact_values(benchmark::State& state) {
  const Case& c = judged(static_cast<std::size_t>(state.range(0))).c;
  const auto before = oracle::initial_state<long double>(c);
  for (auto _ : state) {
    benchmark::DoNotOptimize(oracle::evaluate_window<long double>(c, 0, oracle::Branch::accumulated, before));
  }
}

void local_lens_both(benchmark::State& state) {
  const auto& [c, trace] = judged(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(local_lens(c, trace));
}

void end_to_end(benchmark::State& state) {
  const auto& [c, trace] = judged(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(end_to_end_lens(c, trace));
}

void each_network(benchmark::internal::Benchmark* b) {
  for (std::size_t i = 0; i < std::size(networks); ++i) b->Arg(static_cast<std::int64_t>(i));
  b->ArgName("network")->Unit(benchmark::kMillisecond);
}
BENCHMARK(eigen_double)->Apply(each_network);
BENCHMARK(hand_over)->Apply(each_network);
BENCHMARK(judging)->Apply(each_network);
BENCHMARK(bounds_of_every_stage)->Apply(each_network);
BENCHMARK(local_lens_bounds_only)->Apply(each_network);
BENCHMARK(exact_values)->Apply(each_network);
BENCHMARK(local_lens_both)->Apply(each_network);
BENCHMARK(end_to_end)->Apply(each_network);

}  // namespace
}  // namespace tally
