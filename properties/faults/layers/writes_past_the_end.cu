// The bias kernel writes one element past its output.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::writes_past_the_end_fault {
namespace {

template <class S>
__global__ void add_bias_and_one_more(S* z, const S* bias, std::int64_t elements, std::int64_t features) {
  for (std::int64_t i = first_element(); i <= elements; i += element_stride()) {
    z[i] = from_float<S>(__fadd_rn(i < elements ? to_float(z[i]) : 0.0f, to_float(bias[i % features])));
  }
}

void bias_add(Stream& stream, const BiasAddArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    const std::int64_t elements = a.rows * a.features;
    launch_elements<add_bias_and_one_more<S>>(stream, elements + 1, static_cast<S*>(a.z), static_cast<const S*>(a.bias),
                                              elements, a.features);
  });
}

const RegisterKernel kernel("linear.bias_add", {.variant = "~writes-past-the-end"}, bias_add);

const Stages& stages() {
  static const Stages faulty = with_kernel("linear.bias_add", "writes-past-the-end");
  return faulty;
}

const RegisterFault registered{{
    .name = "writes-past-the-end",
    .stage = "kernel",
    .right = "i < elements",
    .wrong = "i <= elements",
    .condition = "any size",
    .knob = "none",
    .source = "TransformerEngine 2918, pytorch PR 193016: sizes off by one",
    .laws = {"guard_zones_stay_intact", "no_data_race"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::writes_past_the_end_fault
