// The gradient of one head of k and v is that of the last head that reads it, alone.
#include "kernels/attention/attention_rows.hpp"
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

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
