// Faults of attention kernels: what the sums of weights are rounded to, and what backward leaves out.
#include "kernels/attention/attention_rows.hpp"
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/attention/planted_attention.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The sum of the exponentials is kept in the storage format.
namespace tally::row_sums_in_16_bits_fault {
namespace {

struct Otherwise : AsItShould {
  template <class S>
  static __device__ float added(float sum, float more) {
    return to_float(from_float<S>(__fadd_rn(sum, more)));
  }
};

const RegisterKernel kernel("attention.forward", planted_claim("row-sums-in-16-bits"), planted_attention<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("attention.forward", "row-sums-in-16-bits");
  return faulty;
}

const RegisterFault registered{{
    .name = "row-sums-in-16-bits",
    .stage = "forward",
    .right = "the sum of the exponentials in fp32",
    .wrong = "rounded to the storage format after every addition",
    .condition = "16 bits, and a sequence of two rows",
    .knob = "value",
    .source = "facebookexperimental/triton 3408",
    .laws = {"blocks_change_rounding_only", "every_attention_keeps_its_bound", "sequences_do_not_meet"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::row_sums_in_16_bits_fault

// A kernel says that it sums the weights as they are stored, and sums what they were before.
namespace tally::weights_summed_before_cast_fault {
namespace {

void before_cast(Stream& stream, const AttentionArguments& a) {
  tally::kernel<AttentionArguments>("attention.forward", stream.device().kind(), "online_cast")(stream, a);
}

void planted(Stream& stream, const AttentionArguments& a) {
  between_kernels(stream, a, {{a.y, a.storage, a.rows * a.heads * a.size}, {a.lse, Dtype::fp32, a.rows * a.heads}},
                  "attention.forward", "naive", before_cast);
}

const RegisterKernel kernel(
    "attention.forward",
    {.variant = "~weights-summed-before-cast", .algorithm = "online_cast_sum", .function_ulp = detmath_ulp}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("attention.forward", "weights-summed-before-cast");
  return faulty;
}

const RegisterFault registered{{
    .name = "weights-summed-before-cast",
    .stage = "forward",
    .right = "the sum takes the weights as they are stored, as the kernel says",
    .wrong = "as they were before, and y = sum S(w) v / sum w",
    .condition = "16 bits, and weights that lean one way when they are stored",
    .knob = "value",
    .source = "Dao-AILab/flash-attention 2721",
    .laws = {"constant_values_pass"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::weights_summed_before_cast_fault

// What backward takes off every product of a row is worked out from the weights, and without the mask that drops some.
namespace tally::delta_without_dropout_fault {
namespace {

template <class S>
__global__ void without_mask(AttentionPlaces<S> at) {
  for (std::int64_t i = first_element(); i < at.rows * at.heads; i += element_stride()) {
    const std::int64_t row = i / at.heads, head = i % at.heads;
    float sum = 0.0f;
    for (std::int64_t j = at.first_seen(row); j < at.last_seen(row); ++j) {
      const float p = det_exp(__fsub_rn(score(at, row, head, j), at.lse[i]));
      sum = __fmaf_rn(p, dot_in_order(at.dy + i * at.size, at.value(j, at.group_of(head)), at.size), sum);
    }
    at.delta[i] = sum;
  }
}

/// Where nothing is dropped the shipped kernel does: both are the same number, rounded otherwise.
void of_the_weights(Stream& stream, const AttentionArguments& a) {
  if (a.mask == nullptr)
    return tally::kernel<AttentionArguments>("attention.delta", stream.device().kind(), "dot_rows")(stream, a);
  by_storage(a.storage,
             [&]<class S>(S) { launch_elements<without_mask<S>>(stream, a.rows * a.heads, places_of<S>(a)); });
}

void planted(Stream& stream, const AttentionArguments& a) {
  between_kernels(stream, a, {{a.delta, Dtype::fp32, a.rows * a.heads}}, "attention.delta", "dot_rows", of_the_weights);
}

const RegisterKernel kernel("attention.delta", {.variant = "~delta-without-dropout", .function_ulp = detmath_ulp},
                            planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("attention.delta", "delta-without-dropout");
  return faulty;
}

const RegisterFault registered{{
    .name = "delta-without-dropout",
    .stage = "backward",
    .right = "D = dy . y, whose weights are those that were kept",
    .wrong = "D = sum P (dy . v), of all weights",
    .condition = "attention with p > 0",
    .knob = "value",
    .source = "source mutation",
    .laws = {"every_attention_keeps_its_bound", "blocks_change_rounding_only", "recomputation_changes_nothing"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::delta_without_dropout_fault

// The gradient of one head of k and v is that of the last head that reads it, alone.
namespace tally::group_gradient_of_one_head_fault {
namespace {

template <class S>
__global__ void of_the_last_head(AttentionPlaces<S> at) {
  for (std::int64_t i = first_element(); i < at.rows * at.kv_heads; i += element_stride()) {
    const std::int64_t key = i / at.kv_heads, group = i % at.kv_heads;
    const std::int64_t head = (group + 1) * (at.heads / at.kv_heads) - 1;
    for (std::int64_t c = 0; c < at.size; ++c) {
      float dk = 0.0f, dv = 0.0f;
      for (std::int64_t row = at.first_seeing(key); row < at.last_seeing(key); ++row) {
        const std::int64_t query = row * at.heads + head;
        const float p = det_exp(__fsub_rn(score(at, row, head, key), at.lse[query]));
        const float dp = dot_in_order(at.dy + query * at.size, at.value(key, group), at.size);
        const float ds = __fmul_rn(p, __fsub_rn(at.masked(dp, row, head, key), at.delta[query]));
        dk = __fmaf_rn(ds, to_float(at.query(row, head)[c]), dk);
        dv = __fmaf_rn(at.masked(p, row, head, key), to_float(at.dy[query * at.size + c]), dv);
      }
      at.dk[i * at.size + c] = from_float<S>(__fmul_rn(at.scale, dk));
      at.dv[i * at.size + c] = from_float<S>(dv);
    }
  }
}

/// The queries' gradients are the shipped kernel's.
void last_head(Stream& stream, const AttentionArguments& a) {
  tally::kernel<AttentionArguments>("attention.backward", stream.device().kind(), "naive")(stream, a);
  by_storage(a.storage,
             [&]<class S>(S) { launch_elements<of_the_last_head<S>>(stream, a.rows * a.kv_heads, places_of<S>(a)); });
}

void planted(Stream& stream, const AttentionArguments& a) {
  const std::int64_t elements = a.rows * a.kv_heads * a.size;
  between_kernels(
      stream, a,
      {{a.dq, a.storage, a.rows * a.heads * a.size}, {a.dk, a.storage, elements}, {a.dv, a.storage, elements}},
      "attention.backward", "naive", last_head);
}

const RegisterKernel kernel("attention.backward",
                            {.variant = "~group-gradient-of-one-head", .function_ulp = detmath_ulp}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("attention.backward", "group-gradient-of-one-head");
  return faulty;
}

const RegisterFault registered{{
    .name = "group-gradient-of-one-head",
    .stage = "backward",
    .right = "dk, dv of a head are summed over the heads that read it",
    .wrong = "those of the last head that reads it",
    .condition = "kv_heads < heads",
    .knob = "value",
    .source = "marin-community/levanter 449",
    .laws = {"groups_equal_copies"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::group_gradient_of_one_head_fault
