// RMS norm rounds the weight with its offset to the storage format before it multiplies.
#include "properties/faults/rms_norm/otherwise.hpp"

namespace tally::norm_offset_rounded_fault {
namespace {

struct Otherwise : NormAsItShould {
  template <class S>
  static __device__ float weight(float offset, S w) {
    return to_float(from_float<S>(__fadd_rn(offset, to_float(w))));
  }
};

const RegisterKernel kernel("rms_norm.forward", {.variant = "~norm-offset-rounded", .algorithm = "cast_last"},
                            planted_norm<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("rms_norm.forward", "norm-offset-rounded");
  return faulty;
}

const RegisterFault registered{{
    .name = "norm-offset-rounded",
    .stage = "forward",
    .right = "w' = fl(1 + w) in fp32",
    .wrong = "w' rounded to the storage format",
    .condition = "16 bits, and an offset of 1",
    .knob = "value",
    .source = "linkedin/Liger-Kernel 1462, vllm-project/vllm 29810",
    .laws = {"rms_norm_ignores_scale"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::norm_offset_rounded_fault
