// Back through a norm and the residual sum before it, what the residual connection brings is left out.
#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/graph/planted_add_norm.hpp"

namespace tally::residual_gradient_dropped_fault {
namespace {

struct Otherwise : ThroughBothAsItShould {
  static __device__ float out_of_the_sum(float dx, float) { return dx; }
};

const RegisterKernel registered_kernel("add_norm.backward", {.variant = "~residual-gradient-dropped"},
                                       planted_add_norm<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("add_norm.backward", "residual-gradient-dropped");
  return faulty;
}

const RegisterFault registered{{
    .name = "residual-gradient-dropped",
    .stage = "fork",
    .right = "d + norm'(dy)",
    .wrong = "norm'(dy)",
    .condition = "a residual sum with its norm as one in backward",
    .knob = "value",
    .source = "Dao-AILab/quack 52",
    .laws = {"a_norm_takes_its_sum_along"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::residual_gradient_dropped_fault
