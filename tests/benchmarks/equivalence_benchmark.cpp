// Equivalence cases a second on one core: an MLP 16-32-8, one window of eight micro-batches and the same rows as one.
#include <benchmark/benchmark.h>

#include <random>

#include "kernels/training_step/run.hpp"
#include "oracle/case/choice.hpp"

namespace tally {
namespace {

Tensor drawn(Dtype dtype, std::vector<std::int64_t> shape, std::mt19937_64& random) {
  Tensor tensor(dtype, std::move(shape));
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    const auto number = static_cast<double>(random() % 17) / 16 - 0.5;
    dtype == Dtype::i64 ? tensor.set(i, static_cast<double>(random() % 8)) : tensor.set(i, number);
  }
  return tensor;
}

Layer linear(const std::string& name, std::int64_t out) {
  Layer layer;
  layer.kind = "linear", layer.name = name;
  layer.options = {{"out", out}, {"bias", true}};
  return layer;
}

/// `rows` in each of eight micro-batches, or all in one.
Case case_of(std::int64_t rows, bool accumulated) {
  std::mt19937_64 random(1);
  Case c;
  c.model.input = 16;
  Layer relu;
  relu.kind = "relu";
  c.model.layers = {linear("fc1", 32), relu, linear("fc2", 8)};
  c.model.loss.kind = "cross_entropy";
  c.model.loss.options = {{"ignore_index", std::int64_t{-100}}, {"label_smoothing", Decimal{"0"}}};
  c.windows = {accumulated ? std::vector<std::int64_t>(8, rows) : std::vector<std::int64_t>{8 * rows}};
  c.recipe.optimizer = {"sgd", {{"momentum", Decimal{"0.9"}}, {"dampening", Decimal{"0"}}, {"nesterov", false}}};
  c.recipe.learning_rate = {"constant", {{"base", Decimal{"0.1"}}}};
  for (Choice* none : {&c.recipe.weight_decay, &c.recipe.clip, &c.recipe.loss_scale}) none->kind = "none";
  c.recipe.weight_decay.options = {{"exclude", std::vector<std::string>{}}};
  c.tensors = {{"x", drawn(Dtype::fp32, {8 * rows, 16}, random)}, {"target", drawn(Dtype::i64, {8 * rows}, random)}};
  c.tensors.emplace("fc1.weight", drawn(Dtype::fp32, {32, 16}, random));
  c.tensors.emplace("fc1.bias", drawn(Dtype::fp32, {32}, random));
  c.tensors.emplace("fc2.weight", drawn(Dtype::fp32, {8, 32}, random));
  c.tensors.emplace("fc2.bias", drawn(Dtype::fp32, {8}, random));
  return c;
}

void equivalence_case(benchmark::State& state) {
  RunOptions options{.executor = state.range(0) == 0 ? ExecutorKind::host : ExecutorKind::checked, .taps = false};
  options.schedule_seed = static_cast<std::uint64_t>(state.range(2));
  const Case accumulated = case_of(state.range(1), true), whole = case_of(state.range(1), false);
  for (auto _ : state) {
    benchmark::DoNotOptimize(run(accumulated, options));
    benchmark::DoNotOptimize(run(whole, options));
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(equivalence_case)
    ->ArgNames({"checked", "rows", "schedule"})
    ->ArgsProduct({{0, 1}, {2, 16}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tally
