// y as a GEMM, then the bias, (linear.1). dx, (linear.2), and dW, (linear.3), as GEMMs, dW alone or onto its buffer; db
// as column sums, (linear.4).
#include "kernels/training_step/kernel_clock.hpp"
#include "kernels/training_step/weight_gradient.hpp"

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

const RegisterLayerSteps registered("linear", {forward, backward});

}  // namespace
}  // namespace tally::linear_steps
