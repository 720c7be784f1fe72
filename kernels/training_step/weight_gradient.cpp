#include "kernels/training_step/weight_gradient.hpp"

#include <algorithm>
#include <tuple>

#include "kernels/training_step/head_loss.hpp"
#include "kernels/training_step/kernel_clock.hpp"
#include "kernels/training_step/stages.hpp"

namespace tally {
namespace {

constexpr const char* operation = "linear.weight_gradient";
constexpr const char* onto = "into_buffer";

/// Whether the stages that hold a single micro-batch's gradient are those that ship.
bool keeps_gradient_stages(const Run& run) {
  const auto of = [](const Stages& s) {
    return std::tie(s.window, s.begin_window, s.backward, s.accumulate, s.overflow_check);
  };
  const auto replaced = run.stages.variants.find("accumulate");
  const bool planted = replaced != run.stages.variants.end() && replaced->second.starts_with('~');
  return of(run.stages) == of(shipped_stages()) && !planted;
}

bool is_result_format(const Precision& precision) {
  if (precision.compute != Dtype::fp32) return precision.accumulate == precision.compute;
  return precision.accumulate == Dtype::fp32 || precision.accumulate == precision.storage;
}

}  // namespace

bool adds_by_product(const Run& run, const std::map<std::string, std::string>& chosen) {
  const auto named = chosen.find(operation);
  if (named == chosen.end() || named->second != onto || !run.options.accumulate) return false;
  if (fuses_head_and_loss(run)) return false;
  const bool by_table = run.stages.variants.contains(operation);
  if (!by_table && run.stages.gemm != shipped_stages().gemm) return false;
  const std::string& algorithm = run.kernels.claim("accumulate").algorithm;
  return algorithm != "kahan" && is_result_format(run.c.precision) && keeps_gradient_stages(run);
}

void claim_added_products(Run& run) {
  const auto is_added = [](const Parameter& parameter) { return parameter.into_buffer; };
  if (std::ranges::none_of(run.parameters, is_added)) return;
  run.trace.claims.kernels[operation] = {.variant = onto, .algorithm = onto, .result = run.c.precision.accumulate};
  run.trace.groups.insert(run.trace.groups.begin(), {"backward", "accumulate"});
}

void compute_weight_gradient(Run& run, LayerState& layer, int k, GemmCall call) {
  Parameter& weight = *layer.weight;
  const KernelClock::Lap lap(run.stream, operation);
  if (!weight.into_buffer) {
    call.c = run.gradient_by(layer, &weight, k);
    return run.gemm(call);
  }
  run.tap("accumulate", "in.buffer." + weight.name, weight.buffer);
  call.c = weight.buffer.data();
  call.beta = 1;
  run.gemm(call, weight.buffer.dtype);
  run.tap("accumulate", "buffer." + weight.name, weight.buffer);
}

}  // namespace tally
