// The forward pass drops other elements than the sample's mask says.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::dropout_mask_redrawn_fault {
namespace {

template <class S>
__global__ void drop_elsewhere(const S* x, const std::uint8_t* mask, S* out, std::int64_t elements, float factor) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    out[i] = from_float<S>(mask[elements - 1 - i] != 0 ? __fmul_rn(to_float(x[i]), factor) : 0.0f);
  }
}

void dropout(Stream& stream, const DropoutArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<drop_elsewhere<S>>(stream, a.elements, static_cast<const S*>(a.x), a.mask, static_cast<S*>(a.out),
                                       a.elements, a.factor);
  });
}

void planted(Stream& stream, const DropoutArguments& a) {
  between_kernels(stream, a, {{a.out, a.storage, a.elements}}, "dropout.forward", "grid_stride", dropout,
                  Mix::elements);
}

const RegisterKernel kernel("dropout.forward", {.variant = "~dropout-mask-redrawn"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("dropout.forward", "dropout-mask-redrawn");
  return faulty;
}

const RegisterFault registered{{
    .name = "dropout-mask-redrawn",
    .stage = "forward",
    .right = "the mask belongs to the sample",
    .wrong = "another mask for every micro-batch",
    .condition = "dropout",
    .knob = "elements",
    .source = "alpa 592, GC-DPR 12",
    .laws = {"exact_lane", "any_order_of_additions"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::dropout_mask_redrawn_fault
