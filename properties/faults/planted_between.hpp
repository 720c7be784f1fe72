// Memory left between what the right code writes and what the wrong code writes, as the magnitude says.
// Defined in planted_between.cpp, planted_stage.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {

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

}  // namespace tally
