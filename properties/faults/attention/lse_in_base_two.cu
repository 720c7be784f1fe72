// The logarithm of the sum that is kept for backward is one to base 2.
#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/attention/otherwise.hpp"
#include "properties/faults/seeded.hpp"

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
