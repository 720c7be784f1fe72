// Faults of the kernel that accumulates.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The sum over micro-batches is rounded to fp16 after every addition.
namespace tally::low_precision_accumulator_fault {
namespace {

template <class S, class A>
__global__ void add_in_half(const S* gradient, A* buffer, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const float sum = __fadd_rn(to_float(buffer[i]), to_float(gradient[i]));
    buffer[i] = from_float<A>(to_float(from_float<half>(sum)));
  }
}

void accumulate(Stream& stream, const AccumulateArguments& a) {
  by_storages(a.storage, a.format, [&]<class S, class A>(S, A) {
    launch_elements<add_in_half<S, A>>(stream, a.elements, static_cast<const S*>(a.gradient), static_cast<A*>(a.buffer),
                                       a.elements);
  });
}

void planted(Stream& stream, const AccumulateArguments& a) {
  between_kernels(stream, a, {{a.buffer, a.format, a.elements}}, "accumulate", "grid_stride", accumulate);
}

const RegisterKernel kernel("accumulate", {.variant = "~low-precision-accumulator"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("accumulate", "low-precision-accumulator");
  return faulty;
}

const RegisterFault registered{{
    .name = "low-precision-accumulator",
    .right = "A = fp32(A + s_k)",
    .condition = "K > 1",
    .knob = "value",
    .source = "DeepSpeed 1800, Liger PR 1391",
    .laws = {"exact_lane", "many_micro_batches_stay_bounded", "partition_equals_full_batch",
             "ordinary_networks_are_judged"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::low_precision_accumulator_fault

// The kernel stores where it should add (beta = 0 for beta = 1).
namespace tally::overwrite_not_add_fault {
namespace {

template <class S, class A>
__global__ void overwrite(const S* gradient, A* buffer, std::int64_t elements) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    buffer[i] = from_float<A>(to_float(gradient[i]));
  }
}

void accumulate(Stream& stream, const AccumulateArguments& a) {
  by_storages(a.storage, a.format, [&]<class S, class A>(S, A) {
    launch_elements<overwrite<S, A>>(stream, a.elements, static_cast<const S*>(a.gradient), static_cast<A*>(a.buffer),
                                     a.elements);
  });
}

void planted(Stream& stream, const AccumulateArguments& a) {
  between_kernels(stream, a, {{a.buffer, a.format, a.elements}}, "accumulate", "grid_stride", accumulate);
}

const RegisterKernel kernel("accumulate", {.variant = "~overwrite-not-add"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("accumulate", "overwrite-not-add");
  return faulty;
}

const RegisterFault registered{{
    .name = "overwrite-not-add",
    .bug = "last-only",
    .right = "A += s_k",
    .condition = "K > 1",
    .knob = "value",
    .source = "llm.c dd8c9f5, Fast-LLM PR 551",
    .laws = {"partition_equals_full_batch", "exact_lane"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::overwrite_not_add_fault
