// RMS norm stores x rstd in the storage format before the weight multiplies it, and says that it does not.
#include "properties/faults/rms_norm/otherwise.hpp"

namespace tally::norm_cast_order_fault {
namespace {

struct Otherwise : NormAsItShould {
  template <class S>
  static __device__ float normalised(float h) {
    return to_float(from_float<S>(h));
  }
};

const RegisterKernel kernel("rms_norm.forward", {.variant = "~norm-cast-order", .algorithm = "cast_last"},
                            planted_norm<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("rms_norm.forward", "norm-cast-order");
  return faulty;
}

const RegisterFault registered{{
    .name = "norm-cast-order",
    .stage = "forward",
    .right = "y = S(h w'), h a float",
    .wrong = "y = S(S(h) w')",
    .condition = "16 bits",
    .knob = "value",
    .source = "NVIDIA/TransformerEngine 1132, huggingface/transformers 30236",
    .laws = {"rms_norm_ignores_scale"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::norm_cast_order_fault
