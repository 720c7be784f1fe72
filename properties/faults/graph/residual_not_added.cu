// A sum of layers leaves its last input alone: what the residual connection brings is never added.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::residual_not_added_fault {
namespace {

template <class S>
__global__ void take_the_branch(const S* branch, S* out, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) out[i] = branch[i];
}

void branch_alone(Stream& stream, const AddArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<take_the_branch<S>>(stream, a.elements, static_cast<const S*>(a.b), static_cast<S*>(a.out),
                                        a.elements);
  });
}

void planted(Stream& stream, const AddArguments& a) {
  between_kernels(stream, a, {{a.out, a.storage, a.elements}}, "add.forward", "in_order", branch_alone);
}

const RegisterKernel kernel("add.forward", {.variant = "~residual-not-added", .as_written = true}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("add.forward", "residual-not-added");
  return faulty;
}

const RegisterFault registered{{
    .name = "residual-not-added",
    .stage = "forward",
    .right = "y = x_0 + x_1 + …",
    .wrong = "y = the last input",
    .condition = "a sum of layers",
    .knob = "value",
    .source = "source mutation",
    .laws = {"a_fork_adds_up", "partition_equals_full_batch", "a_zero_b_is_the_base_model"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::residual_not_added_fault
