// The kernels one run uses: the shipped variant of every operation, or the one named instead.
#pragma once

#include <map>
#include <string>

#include "kernels/device/device.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/window/arguments.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {

template <class Arguments>
using Kernel = void (*)(Stream& stream, const Arguments& arguments);

struct ActivationKernels {
  Kernel<ActivationArguments> forward, backward;
};

struct KernelTable {
  Kernel<BiasAddArguments> bias_add;
  Kernel<BiasGradientArguments> bias_gradient;
  ActivationKernels relu, tanh, sigmoid, gelu_none, gelu_tanh;
  Kernel<DropoutArguments> dropout_forward, dropout_backward;
  Kernel<BatchNormStatisticsArguments> batch_norm_statistics, batch_norm_frozen_statistics;
  Kernel<NormForwardArguments> batch_norm_forward, layer_norm_forward;
  Kernel<NormGradientArguments> batch_norm_parameter_gradients, layer_norm_parameter_gradients;
  Kernel<NormBackwardArguments> batch_norm_backward, batch_norm_backward_frozen, layer_norm_backward;
  Kernel<CrossEntropyArguments> cross_entropy;
  Kernel<MseArguments> mse;
  Kernel<CastArguments> cast;
  Kernel<AccumulateArguments> accumulate;
  Kernel<RunningStatsArguments> running_stats;
  Kernel<OverflowCheckArguments> overflow_check;
  Kernel<UnscaleArguments> unscale;
  Kernel<NormArguments> norm;
  Kernel<ClipCoefficientArguments> clip_coefficient;
  Kernel<ClipByNormArguments> clip_by_norm;
  Kernel<ClipByValueArguments> clip_by_value;
  Kernel<DecayArguments> decay_l2, decay_decoupled;
  Kernel<SgdArguments> sgd;
  Kernel<AdamArguments> adam;
  Kernel<ScalerArguments> scaler;

  /// What each of them promises, by operation.
  std::map<std::string, KernelClaim> claims;

  /// `variants`: operation -> variant. Throws std::logic_error for one that no file registered.
  KernelTable(ExecutorKind executor, const std::map<std::string, std::string>& variants);
};

}  // namespace tally
