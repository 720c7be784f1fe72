// What a training step of a user's own costs beside Tally's: one case of two windows, every tap.
//
//   own        Tally's own step; copied: and each of its taps once more, as any hand-over does
//   interface  the same step behind the interface of libraries, in this process: the two differ by the interface alone
//   library    the example's library in this process; isolated: the same in a process of its own
//   program    a command that TALLY_STEP_COMMAND gives, such as the NumPy step
//   judged     one case of each kind with its verdict, as a campaign has it
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "kernels/subjects/plugin/library_run.hpp"
#include "kernels/subjects/plugin/library_step.hpp"
#include "kernels/subjects/process/process_step.hpp"
#include "kernels/training_step/run/run.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/io.hpp"
#include "properties/laws/run_and_check.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally {
namespace {

/// As ordinary cases of a campaign: 16 to 32 to 8, seven micro-batches. `width`: of the hidden layer.
Case benchmarked(std::int64_t width) {
  Case c = small_case();
  c.model.input = 16;
  c.model.layers = {layer_of("linear", "fc1", {{"out", width}}), layer_of("relu", ""),
                    layer_of("linear", "fc2", {{"out", std::int64_t{8}}})};
  c.windows = {{4, 4, 4, 2}, {4, 4, 4}};
  c.recipe.optimizer = choice_of("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}});
  c.tensors.clear();
  fill_tensors(c);
  return c;
}

const Case* current = nullptr;  // what the library below trains on: it reads no JSON

/// Tally's step as a library's: what it leaves is handed over tap by tap.
std::int32_t built_in(const tally_run* c) {
  static std::string claims;
  const Trace trace = run(*current);
  if (claims.empty()) claims = to_json(trace.claims);
  c->claims(c->tally, claims.c_str());
  for (const Tap& tap : trace.taps())
    c->tap(c->tally, tap.name.text().c_str(), static_cast<std::int32_t>(tap.value.dtype),
           static_cast<std::int32_t>(tap.value.shape.size()), tap.value.shape.data(), tap.value.bytes.data(),
           TALLY_HOST);
  return TALLY_RAN;
}

/// The case's hash is known: the step inside finds it once more, as it would by itself.
class BehindTheInterface : public OwnStep {
 public:
  explicit BehindTheInterface(const Case& c) : hash_(hash_of(c)) {}
  Trace run(const Case& c) const override {
    current = &c;
    return run_library({TALLY_STEP_ABI, "built-in", nullptr, nullptr, built_in}, c, write_case_beside_tensors(c),
                       hash_);
  }

 private:
  std::string hash_;
};

std::string library() { return TALLY_EXAMPLE_STEP; }

void own(benchmark::State& state) {
  const Case c = benchmarked(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(run(c));
}

/// What the interface cannot be without: each tap is handed over once.
void own_copied(benchmark::State& state) {
  const Case c = benchmarked(state.range(0));
  for (auto _ : state) {
    const Trace trace = run(c);
    Trace copy;
    for (const Tap& tap : trace.taps()) copy.add(tap.name, tap.value);
    benchmark::DoNotOptimize(copy);
  }
}

void run_all(benchmark::State& state, const OwnStep& step) {
  const Case c = benchmarked(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(step.run(c));
}

void behind_the_interface(benchmark::State& state) { run_all(state, BehindTheInterface(benchmarked(state.range(0)))); }
void in_process(benchmark::State& state) { run_all(state, LibraryStep(library())); }
void isolated(benchmark::State& state) { run_all(state, ProcessStep("library", library_body(library()), {})); }

void program(benchmark::State& state) {
  const char* command = std::getenv("TALLY_STEP_COMMAND");
  if (command == nullptr) return state.SkipWithError("TALLY_STEP_COMMAND is not set: not measured");
  run_all(state, ProcessStep("program", command_body(command), {}));
}

void judged(benchmark::State& state, const OwnStep* step) {
  const Case c = benchmarked(state.range(0));
  Stages stages = shipped_stages();
  stages.own = step;
  for (auto _ : state) {
    const CheckedRun checked = run_and_check(c, {.stages = &stages});
    if (checked.outcome.status != Status::pass) return state.SkipWithError(checked.outcome.message.c_str());
  }
}

void own_judged(benchmark::State& state) { judged(state, nullptr); }
void isolated_judged(benchmark::State& state) {
  const ProcessStep step("library", library_body(library()), {});
  judged(state, &step);
}
void program_judged(benchmark::State& state) {
  const char* command = std::getenv("TALLY_STEP_COMMAND");
  if (command == nullptr) return state.SkipWithError("TALLY_STEP_COMMAND is not set: not measured");
  const ProcessStep step("program", command_body(command), {});
  judged(state, &step);
}

BENCHMARK(own)->Arg(32)->Arg(512)->UseRealTime();
BENCHMARK(own_copied)->Arg(32)->Arg(512)->UseRealTime();
BENCHMARK(behind_the_interface)->Arg(32)->Arg(512)->UseRealTime();
BENCHMARK(in_process)->Arg(32)->Arg(512)->UseRealTime();
BENCHMARK(isolated)->Arg(32)->Arg(512)->UseRealTime();
BENCHMARK(program)->Arg(32)->Arg(512)->UseRealTime();
BENCHMARK(own_judged)->Arg(32)->UseRealTime();
BENCHMARK(isolated_judged)->Arg(32)->UseRealTime();
BENCHMARK(program_judged)->Arg(32)->UseRealTime();

}  // namespace
}  // namespace tally
