// Attention backward: delta of every row, then the gradients of q, k and v, those of q in order or by atomics.
#include "kernels/attention/attention_rows.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "oracle/case/sizes.hpp"

// What attention's backward takes off every product of a row: D = dy . y, (attention.4), rounded as
// kernels/attention/arithmetic.md says.
//
//   y, dy [rows, heads size] S   delta [rows, heads] fp32
//
// One thread a row and head, features in order.
namespace tally::delta_kernel {
namespace {

template <class S>
__global__ void dot_rows(const S* y, const S* dy, float* delta, std::int64_t elements, std::int64_t size) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    float sum = 0.0f;
    for (std::int64_t c = i * size; c < (i + 1) * size; ++c)
      sum = __fadd_rn(sum, __fmul_rn(to_float(dy[c]), to_float(y[c])));
    delta[i] = sum;
  }
}

void delta(Stream& stream, const AttentionArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<dot_rows<S>>(stream, a.rows * a.heads, static_cast<const S*>(a.y), static_cast<const S*>(a.dy),
                                 a.delta, a.rows * a.heads, a.size);
  });
}

const RegisterKernel registered("attention.delta", {.variant = "dot_rows"}, delta);

}  // namespace
}  // namespace tally::delta_kernel

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
const Register<SizeEdges> registered_keys{{"keys of a sequence", {block_of_keys}, "a block of keys"}};
const Register<SizeEdges> registered_windows{{"keys of a sliding window", {block_of_keys}, "a block of keys"}};

}  // namespace
}  // namespace tally::backward_kernel

// Attention's gradients as kernels/attention/backward.cu leaves them, with dq, (attention.7), added by atomics: sums in
// fp32, scaled once, store S. FlashAttention-2's default, where several blocks of keys give to one query.
//
//   q, dy, dq [rows, heads size] S   k, v, dk, dv [rows, kv_heads size] S   lse, delta [rows, heads] fp32
//   sums fp32, for the larger of [rows, heads size] and twice [rows, kv_heads size]   mask [heads, pairs] u8, or none
//
// One thread a key and a head of q adds fl(dS k) to every row that sees the key, in whatever order blocks end, so two
// runs may differ in bits, and subnormal sums are flushed.
namespace tally::backward_atomic_kernel {
namespace {

__global__ void clear_sums(float* sums, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) sums[i] = 0.0f;
}

template <class S>
__global__ void add_to_queries(AttentionPlaces<S> at) {
  for (std::int64_t i = first_element(); i < at.rows * at.heads; i += element_stride()) {
    const std::int64_t key = i / at.heads, head = i % at.heads;
    const S* features = at.key(key, at.group_of(head));
    for (std::int64_t row = at.first_seeing(key); row < at.last_seeing(key); ++row) {
      const float ds = weighed<S, false>(at, row, head, key).ds;
      float* dq = at.sums + (row * at.heads + head) * at.size;
      for (std::int64_t c = 0; c < at.size; ++c) atomicAdd(dq + c, __fmul_rn(ds, to_float(features[c])));
    }
  }
}

template <class S>
__global__ void store_queries(AttentionPlaces<S> at) {
  for (std::int64_t i = first_element(); i < at.rows * at.heads * at.size; i += element_stride())
    at.dq[i] = from_float<S>(__fmul_rn(at.scale, at.sums[i]));
}

void backward(Stream& stream, const AttentionArguments& a) {
  const std::int64_t elements = a.rows * a.heads * a.size;
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<clear_sums>(stream, elements, a.sums, elements);
    launch_elements<add_to_queries<S>>(stream, a.rows * a.heads, places_of<S>(a));
    launch_elements<store_queries<S>>(stream, elements, places_of<S>(a));
    launch_elements<key_gradients<S, false>>(stream, a.rows * a.kv_heads, places_of<S>(a));
  });
}

const RegisterKernel registered("attention.backward",
                                {.variant = "recompute_atomic",
                                 .repeats = Repeats::within_claim,
                                 .algorithm = "recompute",
                                 .global_float_atomics = true,
                                 .function_ulp = detmath_ulp},
                                backward, KernelUse::when_named);

}  // namespace
}  // namespace tally::backward_atomic_kernel
