// A window of attention holds one row more.
#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/attention/otherwise.hpp"
#include "properties/faults/seeded.hpp"

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
