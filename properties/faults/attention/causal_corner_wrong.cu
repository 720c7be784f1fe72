// Two queries at a time are held against all keys up to theirs, and the causal mask of that oblong has its corner at the
// top left, where it belongs at the bottom right: the first of two sees one key, the second two.
#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/attention/otherwise.hpp"
#include "properties/faults/seeded.hpp"

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
