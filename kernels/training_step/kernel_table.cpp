#include "kernels/training_step/kernel_table.hpp"

#include <stdexcept>

namespace tally {

KernelTable::KernelTable(ExecutorKind executor, const std::map<std::string, std::string>& variants) {
  std::size_t replaced = 0;
  const auto take = [&]<class Arguments>(Kernel<Arguments>& kernel, const char* operation) {
    const auto variant = variants.find(operation);
    replaced += variant != variants.end();
    kernel = kernel_of<Arguments>(executor, operation, variant == variants.end() ? "" : variant->second);
    claims.emplace(operation, *kernel.claim);
  };
  take(bias_add, "linear.bias_add");
  take(bias_gradient, "linear.bias_gradient");
  take(relu.forward, "relu.forward");
  take(relu.backward, "relu.backward");
  take(tanh.forward, "tanh.forward");
  take(tanh.backward, "tanh.backward");
  take(sigmoid.forward, "sigmoid.forward");
  take(sigmoid.backward, "sigmoid.backward");
  take(gelu_none.forward, "gelu_none.forward");
  take(gelu_none.backward, "gelu_none.backward");
  take(gelu_tanh.forward, "gelu_tanh.forward");
  take(gelu_tanh.backward, "gelu_tanh.backward");
  take(dropout_forward, "dropout.forward");
  take(dropout_backward, "dropout.backward");
  take(batch_norm_statistics, "batch_norm.statistics");
  take(batch_norm_frozen_statistics, "batch_norm.frozen_statistics");
  take(batch_norm_forward, "batch_norm.forward");
  take(batch_norm_parameter_gradients, "batch_norm.parameter_gradients");
  take(batch_norm_backward, "batch_norm.backward");
  take(batch_norm_backward_frozen, "batch_norm.backward_frozen");
  take(layer_norm_forward, "layer_norm.forward");
  take(layer_norm_parameter_gradients, "layer_norm.parameter_gradients");
  take(layer_norm_backward, "layer_norm.backward");
  take(cross_entropy, "cross_entropy");
  take(mse, "mse");
  take(cast, "cast");
  take(accumulate, "accumulate");
  take(running_stats, "running_stats");
  take(overflow_check, "overflow_check");
  take(unscale, "unscale");
  take(norm, "norm");
  take(clip_coefficient, "clip_coefficient");
  take(clip_by_norm, "clip_by_norm");
  take(clip_by_value, "clip_by_value");
  take(decay_l2, "decay.l2");
  take(decay_decoupled, "decay.decoupled");
  take(sgd, "sgd");
  take(adam, "adam");
  take(scaler, "scaler");
  claims["layer_norm.statistics"] = claims.at("layer_norm.forward");
  if (replaced != variants.size()) throw std::logic_error("a stage table names a kernel of an unknown operation");
}

}  // namespace tally
