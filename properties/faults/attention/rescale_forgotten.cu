// A larger score scales the sum of the exponentials, and not the output so far.
#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/attention/otherwise.hpp"
#include "properties/faults/seeded.hpp"

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
