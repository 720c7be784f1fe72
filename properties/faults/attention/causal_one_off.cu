// Causal attention lets a row see the row behind it.
#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/attention/otherwise.hpp"
#include "properties/faults/seeded.hpp"

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
