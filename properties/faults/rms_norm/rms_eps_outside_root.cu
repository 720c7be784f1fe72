// RMS norm adds eps to the root, not under it.
#include "properties/faults/rms_norm/otherwise.hpp"

namespace tally::rms_eps_outside_root_fault {
namespace {

struct Otherwise : NormAsItShould {
  static __device__ float rstd(float mean, float eps) { return __fdiv_rn(1.0f, __fadd_rn(__fsqrt_rn(mean), eps)); }
};

const RegisterKernel kernel("rms_norm.forward", {.variant = "~rms-eps-outside-root", .algorithm = "cast_last"},
                            planted_norm<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("rms_norm.forward", "rms-eps-outside-root");
  return faulty;
}

const RegisterFault registered{{
    .name = "rms-eps-outside-root",
    .stage = "forward",
    .right = "rstd = 1 / sqrt(mean of x^2 + eps)",
    .wrong = "rstd = 1 / (sqrt(mean of x^2) + eps)",
    .condition = "eps that counts beside the mean square",
    .knob = "value",
    .source = "source mutation",
    .laws = {"rms_norm_ignores_scale"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::rms_eps_outside_root_fault
