// What each further reader of an output gives overwrites the gradient and is not added: that of the first reader, the
// last to come in backward, is left alone. Around a residual block it is the residual gradient that is dropped.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::fork_reader_dropped_fault {
namespace {

template <class S>
__global__ void take_the_later(const S* later, S* out, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) out[i] = later[i];
}

void overwrite(Stream& stream, const AddArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<take_the_later<S>>(stream, a.elements, static_cast<const S*>(a.b), static_cast<S*>(a.out),
                                       a.elements);
  });
}

void planted(Stream& stream, const AddArguments& a) {
  between_kernels(stream, a, {{a.out, a.storage, a.elements}}, "gradient.add", "in_reverse", overwrite);
}

const RegisterKernel kernel("gradient.add", {.variant = "~fork-reader-dropped", .as_written = true}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("gradient.add", "fork-reader-dropped");
  return faulty;
}

const RegisterFault registered{{
    .name = "fork-reader-dropped",
    .stage = "fork",
    .right = "the sum of what all readers give",
    .wrong = "what the first reader gives, alone",
    .condition = "an output that several layers read",
    .knob = "value",
    .source = "quack PR 52",
    .laws = {"a_fork_adds_up", "partition_equals_full_batch"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::fork_reader_dropped_fault
