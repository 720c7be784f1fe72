// The gradients of the logits are kept in the memory of the logits, in the storage format, before they take their
// factor, in a head that is one with the loss.
#include "kernels/cross_entropy/three_pass.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/head_loss/in_chunks.hpp"
#include "properties/faults/loss/planted_head.hpp"

namespace tally::gradient_buffer_reused_fault {
namespace {

template <class Stored>
__global__ void scale_stored(float* dz, std::int64_t elements, float factor) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride())
    dz[i] = __fmul_rn(factor, to_float(from_float<Stored>(dz[i])));
}

void loss_of(Stream& stream, const CrossEntropyArguments& a, Dtype storage) {
  CrossEntropyArguments unscaled = a;
  unscaled.factor = 1;
  loss_of_chunk<ThreePass>(stream, unscaled);
  by_storage(storage, [&]<class Stored>(Stored) {
    launch_elements<scale_stored<Stored>>(stream, a.rows * a.classes, static_cast<float*>(a.dz), a.rows * a.classes,
                                          a.factor);
  });
}

const RegisterKernel registered_kernel("head_loss", planted_head_claim("gradient-buffer-reused"),
                                       planted_head<loss_of>);

const Stages& stages() {
  static const Stages faulty = with_kernel("head_loss", "gradient-buffer-reused");
  return faulty;
}

const RegisterFault registered{{
    .name = "gradient-buffer-reused",
    .stage = "backward",
    .right = "dz in fp32 until dx, dW and db are added",
    .wrong = "dz = c S(p - [c = t])",
    .condition = "16 bits, a head that is one with the loss",
    .knob = "value",
    .source = "NVIDIA/TransformerEngine 3193",
    .laws = {"a_head_in_chunks_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::gradient_buffer_reused_fault
