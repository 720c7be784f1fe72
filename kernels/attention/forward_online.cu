// Attention in one pass over blocks of the keys that a row sees: a larger score scales the sum and the output so far,
// the block's own are added up by themselves and then to them, and y, (attention.3), is divided at the end; rounded as
// kernels/arithmetic.md says. Published as FlashAttention-2. `online_cast` stores the weights in S before they weigh,
// and sums what they were before; `online_cast_sum` sums what was stored.
//
//   q, y [rows, heads size] S   k, v [rows, kv_heads size] S   lse [rows, heads] fp32   sums [rows, heads size] fp32
//
// One thread a row and head; the keys of a block in order, and the blocks.
#include "kernels/attention/attention_rows.hpp"
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"

namespace tally {
namespace {

constexpr unsigned minus_infinity = 0xff800000u;

enum class Cast { none, after_sum, before_sum };

template <class S, int keys, Cast cast>
__global__ void by_blocks_of_keys(AttentionPlaces<S> at) {
  for (std::int64_t i = first_element(); i < at.rows * at.heads; i += element_stride()) {
    const std::int64_t row = i / at.heads, head = i % at.heads, group = at.group_of(head);
    const std::int64_t first = at.first_seen(row), last = at.last_seen(row);
    float maximum = __uint_as_float(minus_infinity), sum = 0.0f;
    float* y = at.sums + i * at.size;
    for (std::int64_t c = 0; c < at.size; ++c) y[c] = 0.0f;
    for (std::int64_t block = first; block < last; block += keys) {
      const std::int64_t end = block + keys < last ? block + keys : last;
      float weight[keys];
      float larger = maximum;
      for (std::int64_t j = block; j < end; ++j) {
        const float t = score(at, row, head, j);
        weight[j - block] = t;
        larger = t > larger ? t : larger;
      }
      float block_sum = 0.0f;
      for (std::int64_t j = block; j < end; ++j) {
        float& w = weight[j - block];
        w = det_exp(__fsub_rn(w, larger));
        if (cast == Cast::before_sum) w = stored<S>(w);
        block_sum = __fadd_rn(block_sum, w);
        if (cast == Cast::after_sum) w = stored<S>(w);
      }
      const float factor = maximum == larger ? 1.0f : det_exp(__fsub_rn(maximum, larger));
      maximum = larger;
      sum = __fadd_rn(__fmul_rn(sum, factor), block_sum);
      for (std::int64_t c = 0; c < at.size; ++c) {
        float part = 0.0f;
        for (std::int64_t j = block; j < end; ++j)
          part = __fmaf_rn(weight[j - block], to_float(at.value(j, group)[c]), part);
        y[c] = __fadd_rn(__fmul_rn(y[c], factor), part);
      }
    }
    at.lse[i] = __fadd_rn(maximum, det_log(sum));
    for (std::int64_t c = 0; c < at.size; ++c) at.y[i * at.size + c] = from_float<S>(__fdiv_rn(y[c], sum));
  }
}

template <int keys, Cast cast = Cast::none>
void forward(Stream& stream, const AttentionArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<by_blocks_of_keys<S, keys, cast>>(stream, a.rows * a.heads, places_of<S>(a));
  });
}

KernelClaim claim(const char* variant, std::int64_t keys, const char* algorithm = "online") {
  return {
      .variant = variant, .algorithm = algorithm, .additions = {{SumStep::runs, keys}}, .function_ulp = detmath_ulp};
}

const RegisterKernel registered("attention.forward", claim("online_blocks", 16), forward<16>, KernelUse::when_named);
const RegisterKernel registered_pairs("attention.forward", claim("online_pairs", 2), forward<2>, KernelUse::when_named);
const RegisterKernel registered_cast("attention.forward", claim("online_cast", 16, "online_cast"),
                                     forward<16, Cast::after_sum>, KernelUse::when_named);
const RegisterKernel registered_cast_sum("attention.forward", claim("online_cast_sum", 16, "online_cast_sum"),
                                         forward<16, Cast::before_sum>, KernelUse::when_named);

}  // namespace
}  // namespace tally
