#include "kernels/training_step/run/run.hpp"

#include <sstream>
#include <string>
#include <utility>

#include "kernels/device/executor/launch.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/device/launch_paths.hpp"
#include "kernels/trace/last_place.hpp"
#include "kernels/training_step/offload.hpp"
#include "kernels/training_step/ranks/run_ranks.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "kernels/training_step/run/run_parts.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/sizes.hpp"

namespace tally {
namespace {

[[noreturn]] void refuse_place(const std::string& place, std::string_view found, const std::string& expected) {
  throw NotSupported(place + " is " + std::string(found) + "; the built-in training step takes " + expected);
}

/// A case names shipped variants alone: a seeded fault comes with its stage table, never with a token.
void require_kernels(const Case& c, ExecutorKind executor) {
  for (const auto& [operation, variant] : c.execution.kernels) {
    if (operation.starts_with("gemm.") || operation == most_blocks_key) continue;     // held to by the rules of a case
    const ExecutorKind models = operation == "gemm" ? ExecutorKind::host : executor;  // a GPU has its own tensor cores
    std::string shipped;
    bool found = false;
    for (const RegisteredKernel* each : registered_kernels()) {
      if (each->operation != operation || each->executor != models || each->claim.variant.starts_with('~')) continue;
      found = found || each->claim.variant == variant;
      shipped += (shipped.empty() ? "" : ", ") + each->claim.variant;
    }
    if (shipped.empty()) refuse_place("execution.kernels", operation, "the operations of `./tally list kernels`");
    if (!found) refuse_place("execution.kernels." + operation, "'" + variant + "'", shipped);
  }
}

}  // namespace

void check_inputs(Run& run) {
  const auto held_to = [&](const std::string& name, const DeviceTensor& tensor, const Tensor& given) {
    if (!(tensor.read() == given)) {
      run.trace.violations.push_back("input '" + name + "' changed during the run; expected its bits to stay");
    }
  };
  const auto check = [&](const std::string& name, const DeviceTensor& tensor) {
    if (tensor) held_to(name, tensor, run.c.tensors.at(name));
  };
  check(input_tensor(run.c.model), run.x);
  if (run.target) held_to("target", run.target, *ScoredTarget(run.c));
  if (run.positions) held_to("positions", run.positions, positions_of(run.c));
  check("item_weight", run.item_weight);
  for (const LayerState& layer : run.layers) {
    if (layer.mask && layer.layer->kind == kinds::attention)
      held_to(layer.label + ".mask", layer.mask, masks_by_micro_batch(run.c, layer.label));
    else if (layer.mask)
      check(layer.label + ".mask", layer.mask);
    if (layer.frozen) check(layer.label + ".running_mean", layer.running_mean);
    if (layer.frozen) check(layer.label + ".running_var", layer.running_var);
  }
}

void run_windows(Run& run) {
  const int windows = static_cast<int>(run.c.windows.size());
  try {
    for (run.window = 0; run.window < windows; ++run.window)
      if (trains_window(run.c, static_cast<std::size_t>(run.window))) run.stages.window(run);
    if (!run.options.taps) record_final_state(run);
    run.stream.synchronize();
  } catch (const ExecutorFinding& finding) {
    run.trace.violations.push_back(finding.what());
  }
}

void add_guard_findings(ExecutorKind executor, Trace& trace) {
  std::istringstream lines(device(executor).check_guards());
  for (std::string line; std::getline(lines, line);) trace.violations.push_back(line);
}

void require_supported(const Case& c, const RunOptions& options) {
  require_kernels(c, options.executor);
  if (options.accumulate) return;
  for (const auto& window : c.windows) {
    if (window.size() != 1) {
      refuse_place("a window without an accumulation buffer", std::to_string(window.size()) + " micro-batches", "one");
    }
  }
}

namespace {

/// The micro-batch that moved a layer's running values last: -1 where statistics are the window's; of a micro-step's
/// that of any rank. Sets the run's window to its window. Nothing where this rank has none.
bool find_last_move(Run& run, const LayerState& layer) {
  run.micro_batch = -1;
  for (run.window = static_cast<int>(run.c.windows.size()) - 1; run.window >= 0; --run.window) {
    const auto window = static_cast<std::size_t>(run.window);
    const std::size_t moves = layer.step_statistics ? micro_steps_of(run.c, window) : run.c.windows[window].size();
    if (layer.window_statistics) return true;
    if (moves > 0) return run.micro_batch = static_cast<int>(moves) - 1, true;
  }
  return false;
}

/// The last window that the run trains.
int last_window(const Run& run) {
  auto window = static_cast<int>(run.c.windows.size()) - 1;
  while (!trains_window(run.c, static_cast<std::size_t>(window))) --window;
  return window;
}

/// Under the name of what left them: a micro-batch's move, or the first rank's behind it.
void record_running(Run& run, const LayerState& layer) {
  const int last = last_window(run);
  const bool moved = find_last_move(run, layer);
  const bool handed_over = takes_first_running(run.c, *layer.layer) && !(moved && run.window == last);
  if (!moved && !handed_over) return;
  if (handed_over) run.window = last, run.micro_batch = -1;
  const std::string name = (handed_over ? "broadcast." : "") + layer.label;
  run.record("running_stats", name + ".running_mean", layer.running_mean);
  run.record("running_stats", name + ".running_var", layer.running_var);
}

}  // namespace

void record_final_state(Run& run) {
  run.micro_batch = -1;
  if (run.last_step_window >= 0) {
    run.window = run.last_step_window;
    for (const Parameter& parameter : stepped_parameters(run)) {
      run.record("optimizer", parameter.name, parameter.master);
      for (const KeptState& kept : parameter.state)
        run.record("optimizer", kept.of->name + "." + parameter.name, kept.tensor);
    }
  }
  for (const LayerState& layer : run.layers)
    if (layer.running_mean && !layer.frozen) record_running(run, layer);
}

Trace run(const Case& c, const RunOptions& options) {
  if (auto errors = validate(c); !errors.empty()) throw InvalidCase(std::move(errors));
  if (const OwnStep* own = own_step(options)) return run_own(*own, c, options);
  require_supported(c, options);
  const GridLimit limit(most_blocks_of(c));
  if (in_ranks(c)) {
    Trace trace = run_ranks(c, options);
    note_run_ended();
    return trace;
  }
  Run run(c, options, options.stages != nullptr ? *options.stages : shipped_stages());
  run_windows(run);
  check_inputs(run);
  add_guard_findings(options.executor, run.trace);
  note_run_ended();
  return std::move(run.trace);
}

}  // namespace tally
