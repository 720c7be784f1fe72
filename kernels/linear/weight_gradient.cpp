// How a step runs a linear layer: products, the bias, and the weight's gradient, in a tensor of its own or onto its
// buffer.
#include "kernels/linear/weight_gradient.hpp"

#include <algorithm>
#include <tuple>

#include "kernels/losses/loss_steps.hpp"
#include "kernels/training_step/run/cost.hpp"
#include "kernels/training_step/stages.hpp"

// y as a GEMM, then the bias, (linear.1). dx, (linear.2), and dW, (linear.3), as GEMMs, dW alone or onto its buffer; db
// as column sums, (linear.4).
namespace tally::linear_steps {
namespace {

void timed_gemm(Run& run, const char* operation, const GemmCall& call) {
  const KernelClock::Lap lap(run.stream, operation);
  run.gemm(call);
}

void forward(Run& run, LayerState& layer, int k) {
  const std::int64_t rows = run.rows(k);
  void* y = run.y_of(layer, k);
  timed_gemm(run, "linear.forward",
             {.transpose_b = true,
              .m = rows,
              .n = layer.out,
              .k = layer.in,
              .a = run.x_of(layer, k),
              .b = layer.weight->copy.data(),
              .c = y});
  if (layer.bias == nullptr) return;
  run.launch<BiasAddArguments>("linear.bias_add",
                               {run.c.precision.storage, y, layer.bias->copy.data(), rows, layer.out});
}

void backward(Run& run, LayerState& layer, int k) {
  const std::int64_t rows = run.rows(k);
  const void* dy = run.dy_of(layer, k);
  if (layer.gives_dx) {
    timed_gemm(
        run, "linear.input_gradient",
        {.m = rows, .n = layer.in, .k = layer.out, .a = dy, .b = layer.weight->copy.data(), .c = run.dx_of(layer, k)});
  }
  if (layer.trained_weight() != nullptr)
    compute_weight_gradient(
        run, layer, k,
        {.transpose_a = true, .m = layer.out, .n = layer.in, .k = rows, .a = dy, .b = run.x_of(layer, k)});
  if (layer.trained_bias() == nullptr) return;
  float* partial = run.bias_partials ? run.bias_partials.as<float>() : nullptr;
  run.launch<BiasGradientArguments>(
      "linear.bias_gradient", {run.c.precision.storage, dy, run.gradient_of(layer.bias, k), rows, layer.out, partial});
}

const RegisterKind<LayerSteps> registered("linear", {forward, backward});

}  // namespace
}  // namespace tally::linear_steps

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
