// A kernel says that it sums the weights as they are stored, and sums what they were before.
#include "kernels/device/detmath.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::weights_summed_before_cast_fault {
namespace {

void before_cast(Stream& stream, const AttentionArguments& a) {
  tally::kernel<AttentionArguments>("attention.forward", stream.device().kind(), "online_cast")(stream, a);
}

void planted(Stream& stream, const AttentionArguments& a) {
  between_kernels(stream, a, {{a.y, a.storage, a.rows * a.heads * a.size}, {a.lse, Dtype::fp32, a.rows * a.heads}},
                  "attention.forward", "naive", before_cast);
}

const RegisterKernel kernel(
    "attention.forward",
    {.variant = "~weights-summed-before-cast", .algorithm = "online_cast_sum", .function_ulp = detmath_ulp}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("attention.forward", "weights-summed-before-cast");
  return faulty;
}

const RegisterFault registered{{
    .name = "weights-summed-before-cast",
    .stage = "forward",
    .right = "the sum takes the weights as they are stored, as the kernel says",
    .wrong = "as they were before, and y = sum S(w) v / sum w",
    .condition = "16 bits, and weights that lean one way when they are stored",
    .knob = "value",
    .source = "Dao-AILab/flash-attention 2721",
    .laws = {"constant_values_pass"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::weights_summed_before_cast_fault
