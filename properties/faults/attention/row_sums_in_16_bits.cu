// The sum of the exponentials is kept in the storage format.
#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/attention/otherwise.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::row_sums_in_16_bits_fault {
namespace {

struct Otherwise : AsItShould {
  template <class S>
  static __device__ float added(float sum, float more) {
    return to_float(from_float<S>(__fadd_rn(sum, more)));
  }
};

const RegisterKernel kernel("attention.forward", planted_claim("row-sums-in-16-bits"), planted_attention<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("attention.forward", "row-sums-in-16-bits");
  return faulty;
}

const RegisterFault registered{{
    .name = "row-sums-in-16-bits",
    .stage = "forward",
    .right = "the sum of the exponentials in fp32",
    .wrong = "rounded to the storage format after every addition",
    .condition = "16 bits, and a sequence of two rows",
    .knob = "value",
    .source = "facebookexperimental/triton 3408",
    .laws = {"blocks_change_rounding_only", "every_attention_keeps_its_bound", "sequences_do_not_meet"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::row_sums_in_16_bits_fault
