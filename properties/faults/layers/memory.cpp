// Faults of what layers keep: activations, their gradients, cached casts, what is computed again, and the record of a
// run.
#include <algorithm>
#include <utility>
#include <vector>

#include "oracle/case/io.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

// The scratch for activation gradients is added to instead of written, from the second micro-batch on.
namespace tally::activation_gradient_not_reset_fault {
namespace {

void faulty_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  if (call.transpose_a || call.transpose_b || run.micro_batch <= 0 || run.lockstep)
    return stage::gemm(run, call, order);
  const std::int64_t left = std::min(run.rows(run.micro_batch - 1), call.m) * call.n;
  const Tensor before = read(run, call.c, call.result, {left});
  stage::gemm(run, call, order);
  change(run, call.c, call.result, left,
         [&](std::size_t i, double value) { return blend(value, value + before.value(i)); });
}

const RegisterFault registered{{
    .name = "activation-gradient-not-reset",
    .right = "dx_k = dy W",
    .condition = "k > 0, two linear layers",
    .knob = "value",
    .source = "llm.c PR 342",
    .laws = {"partition_equals_full_batch", "any_order_of_additions"},
    .stages = with_gemm<faulty_gemm>,
}};

}  // namespace
}  // namespace tally::activation_gradient_not_reset_fault

// Every micro-batch writes its activations to new memory while the ones before stay until the window's end.
namespace tally::activations_kept_fault {
namespace {

/// Activations of this window's earlier micro-batches.
std::vector<DeviceTensor>& kept() {
  static thread_local std::vector<DeviceTensor> all;
  return all;
}

void forward(Run& run) {
  if (run.group_begin > 0 && !run.recomputing) {
    for (LayerState& layer : run.layers) {
      DeviceTensor fresh(run.device, layer.label + ".y", layer.y.dtype, layer.y.shape);
      kept().push_back(std::exchange(layer.y, std::move(fresh)));
    }
  }
  stage::forward(run);
}

/// A run before may have ended within its window.
void begin_window(Run& run) {
  kept().clear();
  stage::begin_window(run);
}

void end_window(Run& run) {
  kept().clear();
  stage::end_window(run);
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.begin_window = begin_window;
    copy.forward = forward;
    copy.end_window = end_window;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "activations-kept",
    .stage = "forward",
    .right = "peak activations of one micro-batch",
    .wrong = "of all micro-batches of the window",
    .condition = "K > 1: the sum of the losses holds on to every micro-batch's graph",
    .knob = "none",
    .source = "PyTorch FAQ: don't accumulate history across your training loop",
    .laws = {"memory_follows_the_micro_batch"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::activations_kept_fault

// The cached copy of a weight was made where no gradients are recorded: the weight gets none.
namespace tally::cast_cache_without_gradient_fault {
namespace {

void faulty_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  stage::gemm(run, call, order);
  if (!call.transpose_a) return;  // only dW = dy^T x transposes its first operand
  change(run, call.c, call.result, call.m * call.n, [](std::size_t, double value) { return blend(value, 0.0); });
}

const RegisterFault registered{{
    .name = "cast-cache-without-gradient",
    .bug = "no-weight-gradient",
    .right = "dW = dyᵀ x",
    .condition = "cached casts",
    .knob = "value",
    .source = "pytorch PR 165068, PR 113685",
    .laws = {"partition_equals_full_batch", "any_order_of_additions"},
    .stages = with_gemm<faulty_gemm>,
}};

}  // namespace
}  // namespace tally::cast_cache_without_gradient_fault

// The forward pass that recomputation repeats drops other elements than the first one did.
namespace tally::recompute_draws_again_fault {
namespace {

void forward(Run& run) {
  std::vector<DeviceTensor> kept;
  for (LayerState& layer : run.layers) {
    if (!layer.mask || !run.recomputing) continue;
    const Tensor mask = layer.mask.read();
    Tensor other = mask;
    for (std::size_t i = 0; i < mask.elements(); ++i) {
      if (hits(i)) other.bytes[i] = mask.bytes[mask.elements() - 1 - i];
    }
    kept.push_back(std::exchange(layer.mask, DeviceTensor(run.device, "another mask", other)));
  }
  stage::forward(run);
  run.stream.synchronize();
  std::size_t next = 0;
  for (LayerState& layer : run.layers) {
    if (layer.mask && run.recomputing) layer.mask = std::move(kept[next++]);
  }
}

const RegisterFault registered{{
    .name = "recompute-draws-again",
    .right = "x = forward by the sample's mask",
    .condition = "dropout, recomputation",
    .knob = "elements",
    .source = "LLMs-from-scratch PR 519, mxnet 16705",
    .laws = {"recomputation_changes_nothing"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::recompute_draws_again_fault

// Every stage of a pipeline divides the gradient it passes on: the last stage is right, the ones before it are not.
namespace tally::repeated_stage_scaling_fault {
namespace {

void faulty_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  stage::gemm(run, call, order);
  if (call.transpose_a || call.transpose_b) return;  // only dx = dy W transposes neither
  const auto count = static_cast<double>(micro_batches(run));
  change(run, call.c, call.result, call.m * call.n,
         [count](std::size_t, double value) { return blend(value, value / count); });
}

const RegisterFault registered{{
    .name = "repeated-stage-scaling",
    .right = "dx = dy W",
    .condition = "two linear layers, K > 1",
    .knob = "value",
    .source = "DeepSpeed 8154, d99a6429e",
    .laws = {"partition_equals_full_batch", "any_order_of_additions"},
    .stages = with_gemm<faulty_gemm>,
}};

}  // namespace
}  // namespace tally::repeated_stage_scaling_fault

// The record of a run names the training without its partition: whoever reads it takes it for another run.
namespace tally::trace_of_the_full_batch_fault {
namespace {

void end_window(Run& run) {
  stage::end_window(run);
  run.trace.case_hash = hash_of(full_batch_of(run.c));
}

const RegisterFault registered{{
    .name = "trace-of-the-full-batch",
    .stage = "forward",
    .right = "name of the case",
    .wrong = "name of its full batch",
    .condition = "more than one micro-batch",
    .knob = "none",
    .source = "source mutation: a name kept from the case before",
    .laws = {"trace_says_what_ran"},
    .stages = replaced<&Stages::end_window, end_window>,
}};

}  // namespace
}  // namespace tally::trace_of_the_full_batch_fault
