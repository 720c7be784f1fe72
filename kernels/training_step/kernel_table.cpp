#include "kernels/training_step/kernel_table.hpp"

#include <stdexcept>
#include <utility>

#include "kernels/device/kernel_registry.hpp"

namespace tally {

KernelTable::KernelTable(ExecutorKind executor, const std::map<std::string, std::string>& variants) {
  std::size_t replaced = 0;
  const auto take = [&]<class Arguments>(Kernel<Arguments>& taken, const char* operation, const char* shipped) {
    const auto other = variants.find(operation);
    replaced += other != variants.end();
    const std::string_view variant = other == variants.end() ? shipped : std::string_view(other->second);
    taken = kernel<Arguments>(operation, executor, variant);
    claims.emplace(operation, find_kernel(operation, executor, variant).claim);
  };
  take(bias_add, "linear.bias_add", "grid_stride");
  take(bias_gradient, "linear.bias_gradient", "column_lanes");
  take(relu.forward, "relu.forward", "grid_stride");
  take(relu.backward, "relu.backward", "grid_stride");
  take(tanh.forward, "tanh.forward", "grid_stride");
  take(tanh.backward, "tanh.backward", "grid_stride");
  take(sigmoid.forward, "sigmoid.forward", "grid_stride");
  take(sigmoid.backward, "sigmoid.backward", "grid_stride");
  take(gelu_none.forward, "gelu_none.forward", "grid_stride");
  take(gelu_none.backward, "gelu_none.backward", "grid_stride");
  take(gelu_tanh.forward, "gelu_tanh.forward", "grid_stride");
  take(gelu_tanh.backward, "gelu_tanh.backward", "grid_stride");
  take(dropout_forward, "dropout.forward", "grid_stride");
  take(dropout_backward, "dropout.backward", "grid_stride");
  take(batch_norm_statistics, "batch_norm.statistics", "two_pass");
  take(batch_norm_frozen_statistics, "batch_norm.frozen_statistics", "grid_stride");
  take(batch_norm_forward, "batch_norm.forward", "grid_stride");
  take(batch_norm_parameter_gradients, "batch_norm.parameter_gradients", "column_lanes");
  take(batch_norm_backward, "batch_norm.backward", "grid_stride");
  take(batch_norm_backward_frozen, "batch_norm.backward_frozen", "grid_stride");
  take(layer_norm_forward, "layer_norm.forward", "two_pass");
  take(layer_norm_parameter_gradients, "layer_norm.parameter_gradients", "column_lanes");
  take(layer_norm_backward, "layer_norm.backward", "row_lanes");
  take(cross_entropy, "cross_entropy", "row_lanes");
  take(mse, "mse", "row_lanes");
  take(cast, "cast", "grid_stride");
  take(accumulate, "accumulate", "grid_stride");
  take(running_stats, "running_stats", "grid_stride");
  take(overflow_check, "overflow_check", "atomic_or");
  take(unscale, "unscale", "grid_stride");
  take(norm, "norm", "two_stage");
  take(clip_coefficient, "clip_coefficient", "one_thread");
  take(clip_by_norm, "clip_by_norm", "grid_stride");
  take(clip_by_value, "clip_by_value", "grid_stride");
  take(decay_l2, "decay.l2", "grid_stride");
  take(decay_decoupled, "decay.decoupled", "grid_stride");
  take(sgd, "sgd", "grid_stride");
  take(adam, "adam", "grid_stride");
  take(scaler, "scaler", "one_thread");
  if (replaced != variants.size()) throw std::logic_error("a stage table names a kernel of an unknown operation");
}

}  // namespace tally
