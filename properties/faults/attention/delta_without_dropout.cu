// What backward takes off every product of a row is worked out from the weights, and without the mask that drops some.
#include "kernels/attention/attention_rows.hpp"
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

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
