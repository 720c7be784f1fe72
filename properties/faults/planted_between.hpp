// What faults share: a stage or a kernel that leaves what lies between right and wrong, kernels called with other
// arguments, windows, sums and norms of another kind. Defined in planted_between.cpp.
#pragma once

#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "properties/faults/fault.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {

// Memory left between what the right code writes and what the wrong code writes, as the magnitude says.

/// What lies between: values on the way from right to wrong, or some elements right and the others wrong.
enum class Mix { values, elements };
double mixed(Mix mix, std::size_t i, double right, double wrong);
/// Element by element; rounded to the tensors' format.
Tensor mixed(Mix mix, const Tensor& right, const Tensor& wrong);

/// Device memory that both write, and may read before.
struct Written {
  void* address;
  Dtype dtype;
  std::int64_t elements;
};

/// Runs `right`, then `wrong` on the same memory, and leaves what lies between; at magnitude 1 runs `wrong` alone.
void between(Stream& stream, const std::vector<Written>& written, const std::function<void()>& right,
             const std::function<void()>& wrong, Mix mix = Mix::values);

/// The same with a shipped kernel for `right`, and another launch with its arguments for `wrong`.
template <class Arguments>
void between_kernels(Stream& stream, const Arguments& arguments, const std::vector<Written>& written,
                     const std::string& operation, const std::string& shipped, void (*wrong)(Stream&, const Arguments&),
                     Mix mix = Mix::values) {
  const auto right = kernel<Arguments>(operation, stream.device().kind(), shipped);
  between(
      stream, written, [&] { right(stream, arguments); }, [&] { wrong(stream, arguments); }, mix);
}

/// The same for a product of a linear layer, as `with_gemm` takes it.
template <void (*wrong)(Run&, const GemmCall&, const GemmOrder&), Mix mix = Mix::values>
void between_products(Run& run, const GemmCall& call, const GemmOrder& order) {
  between(
      run.stream, {{call.c, call.result, call.m * call.n}}, [&] { stage::gemm(run, call, order); },
      [&] { wrong(run, call, order); }, mix);
}

/// A whole stage: parameters, their gradients and optimizer state, running values, and what is tapped of them. Inputs
/// are tapped as the right stage read them. Host numbers (steps, flags) are those of the right stage.
void run_between(Run& run, Stage right, Stage wrong);

/// As a stage.
template <Stage right, Stage wrong>
void between_stages(Run& run) {
  run_between(run, right, wrong);
}

/// The factor of a micro-batch's loss.
template <Stage wrong>
void between_factors(Run& run) {
  stage::fix_factor(run);
  const float right = run.factor;
  wrong(run);
  run.factor = blend(right, run.factor);
}

// A shipped kernel called with other arguments than it was given, as its own variant on every executor.
namespace planted {

template <class Arguments>
Arguments arguments_of(void (*)(Stream&, Arguments, Kernel<Arguments>));
}

/// The shipped stages with `operation` run by `Around`, which gets the arguments and the shipped kernel. The variant
/// is named after the fault and keeps the shipped kernel's claims.
template <auto Around>
Stages with_kernel_around(const std::string& operation, const std::string& shipped, const std::string& fault,
                          std::source_location at = std::source_location::current()) {
  using Arguments = decltype(planted::arguments_of(Around));
  static std::string operation_run, variant_run;  // of this instantiation: one fault
  operation_run = operation;
  variant_run = shipped;
  void (*const launch)(Stream&, const Arguments&) = [](Stream& stream, const Arguments& arguments) {
    Around(stream, arguments, kernel<Arguments>(operation_run, stream.device().kind(), variant_run));
  };
  for (const ExecutorKind executor : executors_built()) {
    KernelClaim claim = find_kernel(operation, executor, shipped).claim;
    claim.variant = "~" + fault;
    register_kernel({operation, executor, std::move(claim), typeid(Arguments), reinterpret_cast<void (*)()>(launch)},
                    at);
  }
  return with_kernel(operation, fault);
}

// The loop of a window that takes its step in other places than its end.

/// Whether the optimizer steps after micro-batch k of the run's window.
using StepsAfter = bool (*)(const Run& run, int k);

/// The shipped loop, with a step and cleared buffers wherever `steps_after` says, and there alone. The scaler and the
/// schedule move with every step. Micro-batches go one by one: cases in lockstep run the shipped loop.
void run_window_stepping(Run& run, StepsAfter steps_after);

/// As a stage.
template <StepsAfter steps_after>
void window_stepping(Run& run) {
  run_window_stepping(run, steps_after);
}

/// Micro-batches before micro-batch k of the run's window, over all windows.
inline int micro_batches_before(const Run& run, int k) {
  int before = k;
  for (int w = 0; w < run.window; ++w) before += static_cast<int>(run.c.windows[static_cast<std::size_t>(w)].size());
  return before;
}

// The accumulate stage with another addition.

/// Runs the shipped stage, then leaves `sum(buffer, gradient)` of what it read in every element of every buffer,
/// rounded to the buffer's format, and taps that instead: as far from the shipped sum as the magnitude says.
void accumulate_by(Run& run, const std::function<double(double buffer, double gradient)>& sum, Mix mix = Mix::values);

// The norm over other tensors than the run's parameters.

/// Leaves a wrong norm where the run's norm is, as far from it as the magnitude says, and taps it.
inline void leave_norm(Run& run, float right, float wrong) {
  run.gradient_norm.set_scalar(blend(right, wrong));
  run.tap("norm", "norm", run.gradient_norm);
}

/// The norm of this kind over these sources, left so. Partial results take memory of their own.
inline void norm_over(Run& run, const std::vector<NormSource>& sources, NormKind kind) {
  run.stream.synchronize();
  const auto right = run.gradient_norm.scalar<float>();
  const DeviceTensor partial(run.device, "partial norms of a fault", Dtype::fp32, {norm_chunks(sources)});
  run.kernels.of<NormArguments>("norm")(run.stream,
                                        {kind, sources, partial.as<float>(), run.gradient_norm.as<float>()});
  run.stream.synchronize();
  leave_norm(run, right, run.gradient_norm.scalar<float>());
}

/// The norm that the case's clip asks for.
inline void norm_over(Run& run, const std::vector<NormSource>& sources) {
  const std::string& asked = run.c.recipe.clip.text("norm");
  norm_over(run, sources, asked == "1" ? NormKind::one : asked == "inf" ? NormKind::infinity : NormKind::two);
}

}  // namespace tally
