// Back through a norm and the residual sum before it, what the residual connection brings is added before the norm and
// goes through it, not behind it.
#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/graph/planted_add_norm.hpp"

namespace tally::residual_gradient_before_norm_fault {
namespace {

struct Otherwise : ThroughBothAsItShould {
  static __device__ float into_the_norm(float dy, float residual) { return __fadd_rn(dy, residual); }
  static __device__ float out_of_the_sum(float dx, float) { return dx; }
};

const RegisterKernel registered_kernel("add_norm.backward", {.variant = "~residual-gradient-before-norm"},
                                       planted_add_norm<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("add_norm.backward", "residual-gradient-before-norm");
  return faulty;
}

const RegisterFault registered{{
    .name = "residual-gradient-before-norm",
    .stage = "backward",
    .right = "d + norm'(dy)",
    .wrong = "norm'(d + dy)",
    .condition = "a residual sum with its norm as one in backward",
    .knob = "value",
    .source = "Dao-AILab/quack 53",
    .laws = {"a_norm_takes_its_sum_along"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::residual_gradient_before_norm_fault
