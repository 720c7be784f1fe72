// Faults of the kernels between layers: residual sums, and gradients of an output that several layers read.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/layers/norms.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// A sum of layers leaves its last input alone: what the residual connection brings is never added.
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
    .bug = "addend-left-out",
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

// Back through a norm and the residual sum before it, what the residual connection brings is added before the norm and
// goes through it, not behind it.
namespace tally::residual_gradient_before_norm_fault {
namespace {

struct Otherwise : ThroughBothAsItShould {
  static __device__ float into_the_norm(float dy, float residual) { return __fadd_rn(dy, residual); }
  static __device__ float out_of_the_sum(float dx, float) { return dx; }
};

const RegisterKernel registered_kernel("add_norm.backward", {.variant = "~residual-gradient-before-norm"},
                                       planted_add_norm<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("add_norm.backward", "residual-gradient-before-norm");
  return faulty;
}

const RegisterFault registered{{
    .name = "residual-gradient-before-norm",
    .stage = "backward",
    .right = "d + norm'(dy)",
    .wrong = "norm'(d + dy)",
    .condition = "a residual sum with its norm as one in backward",
    .knob = "value",
    .source = "Dao-AILab/quack 53",
    .laws = {"a_norm_takes_its_sum_along"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::residual_gradient_before_norm_fault

// Back through a norm and the residual sum before it, what the residual connection brings is left out.
namespace tally::residual_gradient_dropped_fault {
namespace {

struct Otherwise : ThroughBothAsItShould {
  static __device__ float out_of_the_sum(float dx, float) { return dx; }
};

const RegisterKernel registered_kernel("add_norm.backward", {.variant = "~residual-gradient-dropped"},
                                       planted_add_norm<Otherwise>);

const Stages& stages() {
  static const Stages faulty = with_kernel("add_norm.backward", "residual-gradient-dropped");
  return faulty;
}

const RegisterFault registered{{
    .name = "residual-gradient-dropped",
    .bug = "addend-left-out",
    .stage = "fork",
    .right = "d + norm'(dy)",
    .wrong = "norm'(dy)",
    .condition = "a residual sum with its norm as one in backward",
    .knob = "value",
    .source = "Dao-AILab/quack 52",
    .laws = {"a_norm_takes_its_sum_along"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::residual_gradient_dropped_fault

// The gradient that the last reader but one of an output gives is added twice.
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
    .bug = "addend-left-out",
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

// What each further reader of an output gives overwrites the gradient and is not added: that of the first reader, the
// last to come in backward, is left alone. Around a residual block it is the residual gradient that is dropped.
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
    .bug = "addend-left-out",
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
