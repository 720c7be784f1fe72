// The heads of k and v are tiled over those of q, not repeated.
#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/attention/otherwise.hpp"
#include "properties/faults/seeded.hpp"

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
