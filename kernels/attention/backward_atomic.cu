// Attention's gradients as kernels/attention/backward.cu leaves them, with dq, (attention.7), added by atomics: sums in
// fp32, scaled once, store S. FlashAttention-2's default, where several blocks of keys give to one query.
//
//   q, dy, dq [rows, heads size] S   k, v, dk, dv [rows, kv_heads size] S   lse, delta [rows, heads] fp32
//   sums fp32, for the larger of [rows, heads size] and twice [rows, kv_heads size]   mask [heads, pairs] u8, or none
//
// One thread a key and a head of q adds fl(dS k) to every row that sees the key, in whatever order blocks end, so two
// runs may differ in bits, and subnormal sums are flushed.
#include "kernels/attention/key_gradients.hpp"
#include "kernels/device/kernel_registry.hpp"

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
