// Faults of the forward kernel of attention: which keys a row sees, and the running softmax.
#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/attention/planted_attention.hpp"
#include "properties/faults/seeded.hpp"

// Two queries at a time are held against all keys up to theirs, and the causal mask of that oblong has its corner at the
// top left, where it belongs at the bottom right: the first of two sees one key, the second two.
namespace tally::causal_corner_wrong_fault {
namespace {

constexpr std::int64_t queries_at_once = 2;

struct Otherwise : AsItShould {
  /// A window's corner is another matter.
  template <class S>
  static __device__ std::int64_t last_seen(const AttentionPlaces<S>& at, std::int64_t row) {
    if (!at.causal || at.window > 0) return at.last_seen(row);
    return at.begin[row] + (row - at.begin[row]) % queries_at_once + 1;
  }
};

const RegisterKernel kernel("attention.forward", planted_claim("causal-corner-wrong"), planted_attention<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("attention.forward", "causal-corner-wrong");
  return faulty;
}

const RegisterFault registered{{
    .name = "causal-corner-wrong",
    .stage = "forward",
    .right = "row i sees the keys j <= i",
    .wrong = "row i of a block of queries sees the keys j <= i mod 2",
    .condition = "causal, no window, and a sequence of three rows",
    .knob = "value",
    .source = "NVIDIA/cutlass 2336, Dao-AILab/flash-attention 517",
    .laws = {"blocks_change_rounding_only", "every_attention_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::causal_corner_wrong_fault

// Causal attention lets a row see the row behind it.
namespace tally::causal_one_off_fault {
namespace {

struct Otherwise : AsItShould {
  template <class S>
  static __device__ std::int64_t last_seen(const AttentionPlaces<S>& at, std::int64_t row) {
    const std::int64_t last = at.last_seen(row);
    return at.causal && last < at.end[row] ? last + 1 : last;
  }
};

const RegisterKernel kernel("attention.forward", planted_claim("causal-one-off"), planted_attention<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("attention.forward", "causal-one-off");
  return faulty;
}

const RegisterFault registered{{
    .name = "causal-one-off",
    .bug = "option-taken-as",
    .stage = "forward",
    .right = "row i sees the keys j <= i",
    .wrong = "row i sees the keys j <= i + 1",
    .condition = "causal, and a sequence of two rows",
    .knob = "value",
    .source = "source mutation",
    .laws = {"the_future_does_not_matter", "blocks_change_rounding_only"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::causal_one_off_fault

// A window of attention holds one row more.
namespace tally::window_one_off_fault {
namespace {

struct Otherwise : AsItShould {
  template <class S>
  static __device__ std::int64_t first_seen(const AttentionPlaces<S>& at, std::int64_t row) {
    const std::int64_t first = at.first_seen(row);
    return at.window > 0 && first > at.begin[row] ? first - 1 : first;
  }
};

const RegisterKernel kernel("attention.forward", planted_claim("window-one-off"), planted_attention<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("attention.forward", "window-one-off");
  return faulty;
}

const RegisterFault registered{{
    .name = "window-one-off",
    .stage = "forward",
    .right = "i - j < window",
    .wrong = "i - j <= window",
    .condition = "a window shorter than a sequence",
    .knob = "value",
    .source = "huggingface/transformers 39408, zml/zml 763",
    .laws = {"blocks_change_rounding_only", "the_future_does_not_matter", "sequences_do_not_meet"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::window_one_off_fault

// The heads of k and v are tiled over those of q, not repeated.
namespace tally::heads_tiled_fault {
namespace {

struct Otherwise : AsItShould {
  template <class S>
  static __device__ std::int64_t group_of(const AttentionPlaces<S>& at, std::int64_t head) {
    return head % at.kv_heads;
  }
};

const RegisterKernel kernel("attention.forward", planted_claim("heads-tiled"), planted_attention<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("attention.forward", "heads-tiled");
  return faulty;
}

const RegisterFault registered{{
    .name = "heads-tiled",
    .stage = "forward",
    .right = "head h reads head floor(h G / H) of k and v",
    .wrong = "head h reads head h mod G",
    .condition = "1 < kv_heads < heads",
    .knob = "value",
    .source = "apple/axlearn 842, PSAL-POSTECH/ONNXim 34",
    .laws = {"groups_equal_copies"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::heads_tiled_fault

// The logarithm of the sum that is kept for backward is one to base 2.
namespace tally::lse_in_base_two_fault {
namespace {

struct Otherwise : AsItShould {
  static __device__ float logarithm(float sum) { return __fmul_rn(det_log(sum), 1.44269504f); }
};

const RegisterKernel kernel("attention.forward", planted_claim("lse-in-base-two"), planted_attention<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("attention.forward", "lse-in-base-two");
  return faulty;
}

const RegisterFault registered{{
    .name = "lse-in-base-two",
    .stage = "forward",
    .right = "lse = m + ln sum",
    .wrong = "lse = m + log2 sum",
    .condition = "a row that sees two keys",
    .knob = "value",
    .source = "pytorch/pytorch 181645",
    .laws = {"blocks_change_rounding_only", "every_attention_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::lse_in_base_two_fault

// A larger score scales the sum of the exponentials, and not the output so far.
namespace tally::rescale_forgotten_fault {
namespace {

struct Otherwise : AsItShould {
  static __device__ float scaled(float y, float) { return y; }
};

const RegisterKernel kernel("attention.forward", planted_claim("rescale-forgotten"), planted_attention<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("attention.forward", "rescale-forgotten");
  return faulty;
}

const RegisterFault registered{{
    .name = "rescale-forgotten",
    .stage = "forward",
    .right = "y <- y e^(m - m')",
    .wrong = "y <- y",
    .condition = "a larger score behind the first",
    .knob = "value",
    .source = "source mutation",
    .laws = {"blocks_change_rounding_only", "every_attention_keeps_its_bound", "selecting_attention_is_exact"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::rescale_forgotten_fault
