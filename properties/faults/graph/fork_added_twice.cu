// The gradient that the last reader but one of an output gives is added twice.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::fork_added_twice_fault {
namespace {

template <class S>
__global__ void add_twice(const S* a, const S* b, S* out, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    out[i] = from_float<S>(__fadd_rn(__fadd_rn(to_float(a[i]), to_float(b[i])), to_float(b[i])));
  }
}

void twice(Stream& stream, const AddArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<add_twice<S>>(stream, a.elements, static_cast<const S*>(a.a), static_cast<const S*>(a.b),
                                  static_cast<S*>(a.out), a.elements);
  });
}

/// Plants the first addition of a fork alone: later ones add to what it left, in its place.
void planted(Stream& stream, const AddArguments& a) {
  if (a.out == a.a) return kernel<AddArguments>("gradient.add", stream.device().kind(), "in_reverse")(stream, a);
  between_kernels(stream, a, {{a.out, a.storage, a.elements}}, "gradient.add", "in_reverse", twice);
}

const RegisterKernel registered_kernel("gradient.add", {.variant = "~fork-added-twice", .as_written = true}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("gradient.add", "fork-added-twice");
  return faulty;
}

const RegisterFault registered{{
    .name = "fork-added-twice",
    .stage = "fork",
    .right = "what each reader gives, once",
    .wrong = "what the last reader but one gives, twice",
    .condition = "an output that several layers read",
    .knob = "value",
    .source = "source mutation",
    .laws = {"a_fork_adds_up", "partition_equals_full_batch"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::fork_added_twice_fault
