// Every slice of a fused product begins at its first feature: k and v are q.
#include "kernels/slice/slice_arguments.hpp"
#include "properties/faults/planted_arguments.hpp"

namespace tally::slice_from_the_start_fault {
namespace {

void otherwise(Stream& stream, SliceArguments arguments, Kernel<SliceArguments> right) {
  arguments.begin = 0;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("slice.forward", "grid_stride", "slice-from-the-start");
  return faulty;
}

const RegisterFault registered{{
    .name = "slice-from-the-start",
    .stage = "forward",
    .right = "y = x[begin .. end)",
    .wrong = "y = x[0 .. end - begin)",
    .condition = "a slice that begins behind the first feature",
    .knob = "none",
    .source = "source mutation: an offset dropped",
    .laws = {"a_fused_product_equals_its_parts"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::slice_from_the_start_fault
