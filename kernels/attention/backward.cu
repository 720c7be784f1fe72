// Attention's gradients from q, k, v, dy and what was kept of each row, its lse and its delta: the weights are worked
// out again, P = exp(t - lse), and dS, (attention.6); then dv, (attention.5), dq and dk, (attention.7), each scaled
// once, at the end; rounded as kernels/attention/arithmetic.md says.
//
//   q, dy, dq [rows, heads size] S   k, v, dk, dv [rows, kv_heads size] S   lse, delta [rows, heads] fp32
//   sums fp32, for the larger of [rows, heads size] and twice [rows, kv_heads size]   mask [heads, pairs] u8, or none
//
// dq: one thread a row and head, keys in order; `recompute_blocks` adds 16 keys by themselves and then to the sum. dk
// and dv: one thread a key and its head, the heads that read it one after another, rows in order. `recompute_cast`
// stores P and dS in S before they weigh, as products of 16-bit operands need them.
#include "kernels/attention/key_gradients.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "oracle/case/sizes.hpp"

namespace tally::backward_kernel {
namespace {

constexpr int block_of_keys = 16;

template <class S, int keys, bool cast>
__global__ void query_gradients(AttentionPlaces<S> at) {
  for (std::int64_t i = first_element(); i < at.rows * at.heads; i += element_stride()) {
    const std::int64_t row = i / at.heads, head = i % at.heads, group = at.group_of(head);
    const std::int64_t last = at.last_seen(row);
    float* dq = at.sums + i * at.size;
    for (std::int64_t c = 0; c < at.size; ++c) dq[c] = 0.0f;
    for (std::int64_t block = at.first_seen(row); block < last; block += keys) {
      const std::int64_t end = block + keys < last ? block + keys : last;
      float ds[keys];
      for (std::int64_t j = block; j < end; ++j) ds[j - block] = weighed<S, cast>(at, row, head, j).ds;
      for (std::int64_t c = 0; c < at.size; ++c) {
        float part = keys == 1 ? dq[c] : 0.0f;
        for (std::int64_t j = block; j < end; ++j) part = __fmaf_rn(ds[j - block], to_float(at.key(j, group)[c]), part);
        dq[c] = keys == 1 ? part : __fadd_rn(dq[c], part);
      }
    }
    for (std::int64_t c = 0; c < at.size; ++c) at.dq[i * at.size + c] = from_float<S>(__fmul_rn(at.scale, dq[c]));
  }
}

template <int keys, bool cast>
void backward(Stream& stream, const AttentionArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<query_gradients<S, keys, cast>>(stream, a.rows * a.heads, places_of<S>(a));
    launch_elements<key_gradients<S, cast>>(stream, a.rows * a.kv_heads, places_of<S>(a));
  });
}

KernelClaim claim(const char* variant, const char* algorithm) {
  return {.variant = variant, .algorithm = algorithm, .function_ulp = detmath_ulp};
}

const RegisterKernel registered("attention.backward", claim("naive", "recompute"), backward<1, false>);
const RegisterKernel registered_blocks("attention.backward", claim("recompute_blocks", "recompute"),
                                       backward<block_of_keys, false>, KernelUse::when_named);
const RegisterKernel registered_cast("attention.backward", claim("recompute_cast", "recompute_cast"),
                                     backward<block_of_keys, true>, KernelUse::when_named);
const RegisterEdges registered_keys("keys of a sequence", {block_of_keys}, "a block of keys");
const RegisterEdges registered_windows("keys of a sliding window", {block_of_keys}, "a block of keys");

}  // namespace
}  // namespace tally::backward_kernel
