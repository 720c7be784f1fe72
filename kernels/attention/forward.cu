// Attention forward: in three passes over a row's keys, and in one pass over blocks of them.
#include "kernels/attention/attention_rows.hpp"
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "oracle/case/sizes.hpp"

// Attention in three passes over the rows that a row sees: the largest score, the sum of the exponentials,
// (attention.2), and y, (attention.3), by weights that are normalised before they weigh; rounded as
// kernels/attention/arithmetic.md says. Weights that a mask drops are 0, those that it keeps scaled. `eager` stores
// products, scores, weights, and what the mask leaves of them in S, as modules of a framework leave them, one launch
// behind the other.
//
//   q, y [rows, heads size] S   k, v [rows, kv_heads size] S   lse [rows, heads] fp32   sums [rows, heads size] fp32
//   mask [heads, pairs] u8, or none
//
// One thread a row and head, keys in order.
namespace tally::forward_naive_kernel {
namespace {

constexpr unsigned minus_infinity = 0xff800000u;

template <class S, bool stores>
__device__ float score_left(const AttentionPlaces<S>& at, std::int64_t row, std::int64_t head, std::int64_t key) {
  const float product = dot_in_order(at.query(row, head), at.key(key, at.group_of(head)), at.size);
  return stored<S, stores>(__fmul_rn(at.scale, stored<S, stores>(product)));
}

template <class S, bool stores>
__global__ void in_three_passes(AttentionPlaces<S> at) {
  for (std::int64_t i = first_element(); i < at.rows * at.heads; i += element_stride()) {
    const std::int64_t row = i / at.heads, head = i % at.heads, group = at.group_of(head);
    const std::int64_t first = at.first_seen(row), last = at.last_seen(row);
    float maximum = __uint_as_float(minus_infinity), sum = 0.0f;
    for (std::int64_t j = first; j < last; ++j) {
      const float t = score_left<S, stores>(at, row, head, j);
      maximum = t > maximum ? t : maximum;
    }
    for (std::int64_t j = first; j < last; ++j)
      sum = __fadd_rn(sum, det_exp(__fsub_rn(score_left<S, stores>(at, row, head, j), maximum)));
    at.lse[i] = __fadd_rn(maximum, det_log(sum));
    float* y = at.sums + i * at.size;
    for (std::int64_t c = 0; c < at.size; ++c) y[c] = 0.0f;
    for (std::int64_t j = first; j < last; ++j) {
      const float weight = det_exp(__fsub_rn(score_left<S, stores>(at, row, head, j), maximum));
      const float p = stored<S, stores>(at.masked(stored<S, stores>(__fdiv_rn(weight, sum)), row, head, j));
      const S* value = at.value(j, group);
      for (std::int64_t c = 0; c < at.size; ++c) y[c] = __fmaf_rn(p, to_float(value[c]), y[c]);
    }
    for (std::int64_t c = 0; c < at.size; ++c) at.y[i * at.size + c] = from_float<S>(y[c]);
  }
}

template <bool stores>
void forward(Stream& stream, const AttentionArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<in_three_passes<S, stores>>(stream, a.rows * a.heads, places_of<S>(a));
  });
}

KernelClaim claim(const char* variant) {
  return {.variant = variant, .algorithm = variant, .additions = {{SumStep::lanes, 1}}, .function_ulp = detmath_ulp};
}

const RegisterKernel registered("attention.forward", claim("naive"), forward<false>);
const RegisterKernel registered_eager("attention.forward", claim("eager"), forward<true>, KernelUse::when_named);

}  // namespace
}  // namespace tally::forward_naive_kernel

// Attention in one pass over blocks of the keys that a row sees: a larger score scales the sum and the output so far,
// the block's own are added up by themselves and then to them, and y, (attention.3), is divided at the end; rounded as
// kernels/attention/arithmetic.md says. Published as FlashAttention-2. `online_cast` stores the weights in S before
// they weigh, and sums what they were before; `online_cast_sum` sums what was stored. `online_exp2` folds the scale
// into the exponential, as FlashAttention-2 does: the products of q and k are compared as they are, and a weight is 2
// to one fused multiplication by s log2(e). Weights that a mask drops are summed, and do not weigh; the output is
// scaled at the end.
//
//   q, y [rows, heads size] S   k, v [rows, kv_heads size] S   lse [rows, heads] fp32   sums [rows, heads size] fp32
//   mask [heads, pairs] u8, or none
//
// One thread a row and head; the keys of a block in order, and the blocks.
namespace tally::forward_online_kernel {
namespace {

constexpr unsigned minus_infinity = 0xff800000u;
constexpr int block_of_keys = 16, pair_of_keys = 2, keys_at_once_in_base_two = 4;

enum class Weights { plain, cast_after_sum, cast_before_sum, folded };

/// (attention.1), or without the scale where it is folded.
template <class S, Weights kind>
__device__ float compared(const AttentionPlaces<S>& at, std::int64_t row, std::int64_t head, std::int64_t key) {
  if (kind != Weights::folded) return score(at, row, head, key);
  return dot_in_order(at.query(row, head), at.key(key, at.group_of(head)), at.size);
}

/// The weight of a key, and what scales all that stands before a larger score.
template <Weights kind>
__device__ float weight_of(float t, float maximum, float in_base_two) {
  if (kind != Weights::folded) return det_exp(__fsub_rn(t, maximum));
  return det_exp2(__fmaf_rn(t, in_base_two, -__fmul_rn(maximum, in_base_two)));
}
template <Weights kind>
__device__ float rescaled_by(float maximum, float larger, float in_base_two) {
  if (maximum == larger) return 1.0f;
  if (kind != Weights::folded) return det_exp(__fsub_rn(maximum, larger));
  return det_exp2(__fmul_rn(__fsub_rn(maximum, larger), in_base_two));
}

template <class S, int keys, Weights kind>
__global__ void by_blocks_of_keys(AttentionPlaces<S> at, float in_base_two) {
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
        const float t = compared<S, kind>(at, row, head, j);
        weight[j - block] = t;
        larger = t > larger ? t : larger;
      }
      float block_sum = 0.0f;
      for (std::int64_t j = block; j < end; ++j) {
        float& w = weight[j - block];
        w = weight_of<kind>(w, larger, in_base_two);
        if (kind == Weights::cast_before_sum) w = stored<S>(w);
        block_sum = __fadd_rn(block_sum, w);
        if (kind == Weights::cast_after_sum) w = stored<S>(w);
        if (!at.keeps(row, head, j)) w = 0.0f;
      }
      const float factor = rescaled_by<kind>(maximum, larger, in_base_two);
      maximum = larger;
      sum = __fadd_rn(__fmul_rn(sum, factor), block_sum);
      for (std::int64_t c = 0; c < at.size; ++c) {
        float part = 0.0f;
        for (std::int64_t j = block; j < end; ++j)
          part = __fmaf_rn(weight[j - block], to_float(at.value(j, group)[c]), part);
        y[c] = __fadd_rn(__fmul_rn(y[c], factor), part);
      }
    }
    at.lse[i] = __fadd_rn(kind == Weights::folded ? __fmul_rn(at.scale, maximum) : maximum, det_log(sum));
    for (std::int64_t c = 0; c < at.size; ++c) {
      const float mean = __fdiv_rn(y[c], sum);
      at.y[i * at.size + c] = from_float<S>(at.mask != nullptr ? __fmul_rn(mean, at.kept) : mean);
    }
  }
}

template <int keys, Weights kind = Weights::plain>
void forward(Stream& stream, const AttentionArguments& a) {
  constexpr double log2_of_e = 0x1.71547652b82fep0;
  const auto in_base_two = static_cast<float>(static_cast<double>(a.scale) * log2_of_e);
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<by_blocks_of_keys<S, keys, kind>>(stream, a.rows * a.heads, places_of<S>(a), in_base_two);
  });
}

KernelClaim claim(const char* variant, std::int64_t keys, const char* algorithm = "online") {
  return {
      .variant = variant, .algorithm = algorithm, .additions = {{SumStep::runs, keys}}, .function_ulp = detmath_ulp};
}

const RegisterKernel registered("attention.forward", claim("online_blocks", block_of_keys), forward<block_of_keys>,
                                KernelUse::when_named);
const RegisterKernel registered_pairs("attention.forward", claim("online_pairs", pair_of_keys), forward<pair_of_keys>,
                                      KernelUse::when_named);
const RegisterKernel registered_cast("attention.forward", claim("online_cast", block_of_keys, "online_cast"),
                                     forward<block_of_keys, Weights::cast_after_sum>, KernelUse::when_named);
const RegisterKernel registered_cast_sum("attention.forward",
                                         claim("online_cast_sum", block_of_keys, "online_cast_sum"),
                                         forward<block_of_keys, Weights::cast_before_sum>, KernelUse::when_named);
const RegisterKernel registered_exp2("attention.forward", claim("online_exp2", keys_at_once_in_base_two, "online_exp2"),
                                     forward<keys_at_once_in_base_two, Weights::folded>, KernelUse::when_named);

const Register<SizeEdges> registered_keys{
    {"keys of a sequence", {pair_of_keys, keys_at_once_in_base_two, block_of_keys}, "a block of keys"}};
const Register<SizeEdges> registered_windows{
    {"keys of a sliding window", {pair_of_keys, keys_at_once_in_base_two, block_of_keys}, "a block of keys"}};

}  // namespace
}  // namespace tally::forward_online_kernel
