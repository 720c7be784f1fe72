// Equivalence cases a second on one core: an MLP 16-32-8, one window of eight micro-batches and the same rows as one.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "kernels/training_step/run/captured_run.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/io.hpp"

namespace tally {
namespace {

/// One tensor of drawn sixteenths, or of classes, as a case file writes it.
std::string tensor(const std::string& name, const std::vector<std::int64_t>& shape, std::mt19937_64& random) {
  const bool classes = shape.size() == 1 && name == "target";
  std::int64_t count = 1;
  std::string sizes, data;
  for (const std::int64_t size : shape) {
    count *= size;
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const double number = static_cast<double>(random() % 17) / 16 - 0.5;
    data += (data.empty() ? "" : ", ") + (classes ? std::to_string(random() % 8) : std::to_string(number));
  }
  return "\"" + name + "\": {\"dtype\": \"" + (classes ? "i64" : "fp32") + "\", \"shape\": [" + sizes +
         "], \"data\": [" + data + "]}";
}

constexpr const char* problem = R"(
  "model": {"input": 16, "loss": {"kind": "cross_entropy"}, "layers": [
    {"kind": "linear", "name": "fc1", "out": 32}, {"kind": "relu"}, {"kind": "linear", "name": "fc2", "out": 8}]},
  "precision": {"storage": "fp32", "compute": "fp32", "accumulate": "fp32", "master": "fp32", "tf32": false},
  "recipe": {"optimizer": {"kind": "sgd", "momentum": 0.9}, "learning_rate": {"kind": "constant", "base": 0.1},
    "weight_decay": {"kind": "none"}, "clip": {"kind": "none"}, "loss_scale": {"kind": "none"}},)";

/// `rows` in each of eight micro-batches, or all in one.
Case case_of(std::int64_t rows, bool accumulated) {
  std::mt19937_64 random(1);
  std::string sizes = std::to_string(accumulated ? rows : 8 * rows);
  for (int k = 1; accumulated && k < 8; ++k) sizes += ", " + std::to_string(rows);
  std::string tensors = tensor("x", {8 * rows, 16}, random) + ", " + tensor("target", {8 * rows}, random);
  for (const auto& [name, shape] : {std::pair{"fc1.weight", std::vector<std::int64_t>{32, 16}},
                                    {"fc1.bias", {32}},
                                    {"fc2.weight", {8, 32}},
                                    {"fc2.bias", {8}}}) {
    tensors += ", " + tensor(name, shape, random);
  }
  return read_case("{\"tally_case\": 1," + std::string(problem) + "\"windows\": [[" + sizes + "]], \"tensors\": {" +
                   tensors + "}}");
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

/// The same with the work of either run captured once: a CUDA graph each, on new values in every case.
void captured_case(benchmark::State& state) {
  constexpr ExecutorKind executors[] = {ExecutorKind::host, ExecutorKind::cuda};
  const RunOptions options{.executor = executors[state.range(0)], .taps = false};
  try {
    device(options.executor);
  } catch (const DeviceAbsent& reason) {
    return state.SkipWithError(("not run: " + std::string(reason.what())).c_str());
  }
  const Case accumulated = case_of(state.range(1), true), whole = case_of(state.range(1), false);
  CapturedRun by_parts(accumulated, options), at_once(whole, options);
  for (auto _ : state) {
    for (CapturedRun* each : {&by_parts, &at_once}) {
      each->set("x", accumulated.tensors.at("x"));
      benchmark::DoNotOptimize(each->replay());
    }
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(captured_case)
    ->ArgNames({"cuda", "rows"})
    ->ArgsProduct({{0, 1}, {2, 16}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(equivalence_case)
    ->ArgNames({"checked", "rows", "schedule"})
    ->ArgsProduct({{0, 1}, {2, 16}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tally
