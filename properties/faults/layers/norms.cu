// Faults of the kernels of norms: RMS norm, variances, and the running statistics of BatchNorm.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/norm/norm_rows.hpp"
#include "kernels/window/arguments.hpp"
#include "properties/faults/layers/norms.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// RMS norm stores x rstd in the storage format before the weight multiplies it, and says that it does not.
namespace tally::norm_cast_order_fault {
namespace {

struct Otherwise : NormAsItShould {
  template <class S>
  static __device__ float normalised(float h) {
    return to_float(from_float<S>(h));
  }
};

const RegisterKernel kernel("rms_norm.forward", {.variant = "~norm-cast-order", .algorithm = "cast_last"},
                            planted_norm<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("rms_norm.forward", "norm-cast-order");
  return faulty;
}

const RegisterFault registered{{
    .name = "norm-cast-order",
    .stage = "forward",
    .right = "y = S(h w'), h a float",
    .wrong = "y = S(S(h) w')",
    .condition = "16 bits",
    .knob = "value",
    .source = "NVIDIA/TransformerEngine 1132, huggingface/transformers 30236",
    .laws = {"rms_norm_ignores_scale"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::norm_cast_order_fault

// RMS norm rounds the weight with its offset to the storage format before it multiplies.
namespace tally::norm_offset_rounded_fault {
namespace {

struct Otherwise : NormAsItShould {
  template <class S>
  static __device__ float weight(float offset, S w) {
    return to_float(from_float<S>(__fadd_rn(offset, to_float(w))));
  }
};

const RegisterKernel kernel("rms_norm.forward", {.variant = "~norm-offset-rounded", .algorithm = "cast_last"},
                            planted_norm<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("rms_norm.forward", "norm-offset-rounded");
  return faulty;
}

const RegisterFault registered{{
    .name = "norm-offset-rounded",
    .stage = "forward",
    .right = "w' = fl(1 + w) in fp32",
    .wrong = "w' rounded to the storage format",
    .condition = "16 bits, and an offset of 1",
    .knob = "value",
    .source = "linkedin/Liger-Kernel 1462, vllm-project/vllm 29810",
    .laws = {"rms_norm_ignores_scale"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::norm_offset_rounded_fault

// RMS norm adds eps to the root, not under it.
namespace tally::rms_eps_outside_root_fault {
namespace {

struct Otherwise : NormAsItShould {
  static __device__ float rstd(float mean, float eps) { return __fdiv_rn(1.0f, __fadd_rn(__fsqrt_rn(mean), eps)); }
};

const RegisterKernel kernel("rms_norm.forward", {.variant = "~rms-eps-outside-root", .algorithm = "cast_last"},
                            planted_norm<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("rms_norm.forward", "rms-eps-outside-root");
  return faulty;
}

const RegisterFault registered{{
    .name = "rms-eps-outside-root",
    .stage = "forward",
    .right = "rstd = 1 / sqrt(mean of x^2 + eps)",
    .wrong = "rstd = 1 / (sqrt(mean of x^2) + eps)",
    .condition = "eps that counts beside the mean square",
    .knob = "value",
    .source = "source mutation",
    .laws = {"rms_norm_ignores_scale"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::rms_eps_outside_root_fault

// The gradient of an RMS norm's weight is added from parts that were kept in bf16, a row each, and claims parts in fp32.
namespace tally::norm_weight_gradient_in_bf16_fault {
namespace {

template <class S>
__global__ void from_parts_in_bf16(const S* x, const S* dy, const float* rstd, S* dw, std::int64_t rows,
                                   std::int64_t features) {
  for (std::int64_t j = first_element(); j < features; j += element_stride()) {
    float sum = 0.0f;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t i = row * features + j;
      const float part = __fmul_rn(to_float(dy[i]), __fmul_rn(to_float(x[i]), rstd[row]));
      sum = __fadd_rn(sum, to_float(from_float<bfloat16>(part)));
    }
    dw[j] = from_float<S>(sum);
  }
}

void in_bf16(Stream& stream, const NormGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<from_parts_in_bf16<S>>(stream, a.features, static_cast<const S*>(a.x), static_cast<const S*>(a.dy),
                                           a.rstd, static_cast<S*>(a.dw), a.rows, a.features);
  });
}

void planted(Stream& stream, const NormGradientArguments& a) {
  between_kernels(stream, a, {{a.dw, a.storage, a.features}}, "rms_norm.weight_gradient", "column_lanes", in_bf16);
}

const RegisterKernel kernel("rms_norm.weight_gradient",
                            {.variant = "~norm-weight-gradient-in-bf16", .algorithm = "cast_last"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("rms_norm.weight_gradient", "norm-weight-gradient-in-bf16");
  return faulty;
}

const RegisterFault registered{{
    .name = "norm-weight-gradient-in-bf16",
    .stage = "backward",
    .right = "dw = S(Σ dy h), every part in fp32",
    .wrong = "dw = S(Σ bf16(dy h))",
    .condition = "two rows or more",
    .knob = "value",
    .source = "linkedin/Liger-Kernel 950",
    .laws = {"rms_norm_ignores_scale"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::norm_weight_gradient_in_bf16_fault

// A variance worked out in one pass is taken as it comes, below 0 too.
namespace tally::variance_below_zero_fault {
namespace {

struct AsItComes {
  template <class S, int lanes>
  static __device__ RowMoments of(const S* x, std::int64_t features, int lane, float inverse_features) {
    float sum = 0.0f, squares = 0.0f;
    for (std::int64_t j = lane; j < features; j += lanes) {
      const float value = to_float(x[j]);
      sum = __fadd_rn(sum, value);
      squares = __fadd_rn(squares, __fmul_rn(value, value));
    }
    const float mean = __fmul_rn(row_total<lanes>(sum), inverse_features);
    return {mean, __fsub_rn(__fmul_rn(row_total<lanes>(squares), inverse_features), __fmul_rn(mean, mean))};
  }
};

const RegisterKernel kernel(
    "layer_norm.forward",
    {.variant = "~variance-below-zero", .algorithm = "one_pass", .additions = row_additions(), .as_written = true},
    launch_normalisation<AsItComes>);

const Stages& stages() {
  static const Stages faulty = with_kernel("layer_norm.forward", "variance-below-zero");
  return faulty;
}

const RegisterFault registered{{
    .name = "variance-below-zero",
    .stage = "forward",
    .right = "var = max(0, E[x x] - mean mean)",
    .wrong = "var = E[x x] - mean mean",
    .condition = "a row of one large number",
    .knob = "none",
    .source = "source mutation",
    .laws = {"norms_of_one_number_keep_their_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::variance_below_zero_fault

// The running variance takes the biased variance of the batch.
namespace tally::biased_running_variance_fault {
namespace {

template <class M>
__global__ void move(M* running, const float* batch, std::int64_t features, float momentum, float kept) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    running[i] = from_float<M>(__fadd_rn(__fmul_rn(kept, to_float(running[i])), __fmul_rn(momentum, batch[i])));
  }
}

void running_stats(Stream& stream, const RunningStatsArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    launch_elements<move<M>>(stream, a.features, static_cast<M*>(a.running), a.batch, a.features, a.momentum,
                             a.one_minus_momentum);
  });
}

void planted(Stream& stream, const RunningStatsArguments& a) {
  between_kernels(stream, a, {{a.running, a.format, a.features}}, "running_stats", "grid_stride", running_stats);
}

const RegisterKernel kernel("running_stats", {.variant = "~biased-running-variance"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("running_stats", "biased-running-variance");
  return faulty;
}

const RegisterFault registered{{
    .name = "biased-running-variance",
    .right = "r = (1 - m) r + m v n / (n - 1)",
    .condition = "BatchNorm with small micro-batches",
    .knob = "value",
    .source = "pytorch 46516: the definition",
    .laws = {"running_statistics_move_once", "batch_norm_keeps_its_definition"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::biased_running_variance_fault

// The running statistics weigh old and new the wrong way round.
namespace tally::bn_momentum_swapped_fault {
namespace {

template <class M>
__global__ void move(M* running, const float* batch, std::int64_t features, float momentum, float kept,
                     float correction) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    const float moved = __fmul_rn(kept, __fmul_rn(batch[i], correction));
    running[i] = from_float<M>(__fadd_rn(__fmul_rn(momentum, to_float(running[i])), moved));
  }
}

void running_stats(Stream& stream, const RunningStatsArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    launch_elements<move<M>>(stream, a.features, static_cast<M*>(a.running), a.batch, a.features, a.momentum,
                             a.one_minus_momentum, a.correction);
  });
}

void planted(Stream& stream, const RunningStatsArguments& a) {
  between_kernels(stream, a, {{a.running, a.format, a.features}}, "running_stats", "grid_stride", running_stats);
}

const RegisterKernel kernel("running_stats", {.variant = "~bn-momentum-swapped"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("running_stats", "bn-momentum-swapped");
  return faulty;
}

const RegisterFault registered{{
    .name = "bn-momentum-swapped",
    .right = "r = (1 - m) r + m v",
    .condition = "BatchNorm",
    .knob = "value",
    .source = "GradientAccumulator 47: momentum read the other way round",
    .laws = {"running_statistics_move_once"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::bn_momentum_swapped_fault
