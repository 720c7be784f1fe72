// y = x W^T (GEMM), then bias. dx = dy W, dW = dy^T x (GEMMs), db column sums.
#include "kernels/training_step/run_state.hpp"

namespace tally {
namespace {

void forward(Run& run, LayerState& layer, int k) {
  const std::int64_t rows = run.rows(k);
  void* y = run.y_of(layer, k);
  run.gemm(Transpose::no, Transpose::yes, {rows, layer.out, layer.in}, run.x_of(layer, k), layer.weight->copy.data(),
           y);
  if (layer.bias == nullptr) return;
  run.kernels.bias_add(run.device, {run.c.precision.storage, y, layer.bias->copy.data(), rows, layer.out});
}

void backward(Run& run, LayerState& layer, int k) {
  const std::int64_t rows = run.rows(k);
  const void* dy = run.dy_of(layer, k);
  if (layer.gives_dx) {
    run.gemm(Transpose::no, Transpose::no, {rows, layer.in, layer.out}, dy, layer.weight->copy.data(),
             run.dx_of(layer, k));
  }
  run.gemm(Transpose::yes, Transpose::no, {layer.out, layer.in, rows}, dy, run.x_of(layer, k),
           run.gradient_of(layer.weight, k));
  if (layer.bias == nullptr) return;
  run.kernels.bias_gradient(run.device, {run.c.precision.storage, dy, run.gradient_of(layer.bias, k), rows, layer.out});
}

const RegisterLayerSteps registered("linear", {forward, backward});

}  // namespace
}  // namespace tally
