// Faults of the kernels of a bias: the column sum of its gradient, and a write past the end.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The column sum of the bias gradient runs from the last row to the first: as accurate, but not the order claimed.
namespace tally::bias_gradient_reversed_fault {
namespace {

template <class S>
__global__ void sum_backwards(const S* dy, S* db, std::int64_t rows, std::int64_t features) {
  for (std::int64_t column = first_element(); column < features; column += element_stride()) {
    float sum = 0.0f;
    for (std::int64_t row = rows; row-- > 0;) sum = __fadd_rn(sum, to_float(dy[row * features + column]));
    db[column] = from_float<S>(sum);
  }
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<sum_backwards<S>>(stream, a.features, static_cast<const S*>(a.dy), static_cast<S*>(a.db), a.rows,
                                      a.features);
  });
}

void planted(Stream& stream, const BiasGradientArguments& a) {
  between_kernels(stream, a, {{a.db, a.storage, a.features}}, "linear.bias_gradient", "column_lanes", bias_gradient,
                  Mix::elements);
}

const RegisterKernel registered_kernel("linear.bias_gradient",
                                       {.variant = "~bias-gradient-reversed", .algorithm = "column_lanes"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("linear.bias_gradient", "bias-gradient-reversed");
  return faulty;
}

const RegisterFault registered{{
    .name = "bias-gradient-reversed",
    .right = "db = Σ dy_i in the order claimed",
    .condition = "three rows or more",
    .knob = "elements",
    .source = "tensorflow 22398, llm.c c8cd023",
    .laws = {"any_order_of_additions", "partition_equals_full_batch"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::bias_gradient_reversed_fault

// The column sum of the bias gradient accumulates in fp16.
namespace tally::half_accumulator_fault {
namespace {

template <class S>
__global__ void sum_in_half(const S* dy, S* db, std::int64_t rows, std::int64_t features) {
  for (std::int64_t column = first_element(); column < features; column += element_stride()) {
    half sum = from_float<half>(0.0f);
    for (std::int64_t row = 0; row < rows; ++row) {
      sum = from_float<half>(__fadd_rn(to_float(sum), to_float(dy[row * features + column])));
    }
    db[column] = from_float<S>(to_float(sum));
  }
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<sum_in_half<S>>(stream, a.features, static_cast<const S*>(a.dy), static_cast<S*>(a.db), a.rows,
                                    a.features);
  });
}

void planted(Stream& stream, const BiasGradientArguments& a) {
  between_kernels(stream, a, {{a.db, a.storage, a.features}}, "linear.bias_gradient", "column_lanes", bias_gradient);
}

const RegisterKernel kernel("linear.bias_gradient", {.variant = "~half-accumulator"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("linear.bias_gradient", "half-accumulator");
  return faulty;
}

const RegisterFault registered{{
    .name = "half-accumulator",
    .right = "db = Σ rounded to fp32 after every row",
    .condition = "several rows",
    .knob = "value",
    .source = "llm.c PR 476, pytorch PR 195403",
    .laws = {"exact_lane", "many_micro_batches_stay_bounded", "any_order_of_additions",
             "any_bit_pattern_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::half_accumulator_fault

// One of the additions into one column of the bias gradient is lost, as where two blocks add without an atomic.
namespace tally::lost_atomic_add_fault {
namespace {

template <class S>
__global__ void sum_all_but_one(const S* dy, S* db, std::int64_t rows, std::int64_t features) {
  for (std::int64_t column = first_element(); column < features; column += element_stride()) {
    float sum = 0.0f;
    for (std::int64_t row = 0; row < rows; ++row) {
      const bool lost = rows > 1 && row == rows / 2 && column == features / 2;
      if (!lost) sum = __fadd_rn(sum, to_float(dy[row * features + column]));
    }
    db[column] = from_float<S>(sum);
  }
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<sum_all_but_one<S>>(stream, a.features, static_cast<const S*>(a.dy), static_cast<S*>(a.db), a.rows,
                                        a.features);
  });
}

void planted(Stream& stream, const BiasGradientArguments& a) {
  between_kernels(stream, a, {{a.db, a.storage, a.features}}, "linear.bias_gradient", "column_lanes", bias_gradient);
}

const RegisterKernel kernel("linear.bias_gradient", {.variant = "~lost-atomic-add"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("linear.bias_gradient", "lost-atomic-add");
  return faulty;
}

const RegisterFault registered{{
    .name = "lost-atomic-add",
    .bug = "one-addend-lost",
    .right = "db_j = Σ dy_ij",
    .condition = "several rows",
    .knob = "value",
    .source = "llm.c 0f144e3, tensorflow 39751",
    .laws = {"exact_lane", "many_micro_batches_stay_bounded", "any_order_of_additions", "stages_repeat_elsewhere"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::lost_atomic_add_fault

// The column sum misses the last row of every micro-batch.
namespace tally::tail_row_dropped_fault {
namespace {

template <class S>
__global__ void sum_all_but_last(const S* dy, S* db, std::int64_t rows, std::int64_t features) {
  for (std::int64_t column = first_element(); column < features; column += element_stride()) {
    float sum = 0.0f;
    for (std::int64_t row = 0; row + 1 < rows; ++row) sum = __fadd_rn(sum, to_float(dy[row * features + column]));
    db[column] = from_float<S>(sum);
  }
}

void bias_gradient(Stream& stream, const BiasGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    launch_elements<sum_all_but_last<S>>(stream, a.features, static_cast<const S*>(a.dy), static_cast<S*>(a.db), a.rows,
                                         a.features);
  });
}

void planted(Stream& stream, const BiasGradientArguments& a) {
  between_kernels(stream, a, {{a.db, a.storage, a.features}}, "linear.bias_gradient", "column_lanes", bias_gradient);
}

const RegisterKernel kernel("linear.bias_gradient", {.variant = "~tail-row-dropped"}, planted);

const Stages& stages() {
  static const Stages faulty = with_kernel("linear.bias_gradient", "tail-row-dropped");
  return faulty;
}

const RegisterFault registered{{
    .name = "tail-row-dropped",
    .right = "db = Σ over all rows",
    .condition = "two rows or more",
    .knob = "value",
    .source = "onnxruntime 32299: a silent tail",
    .laws = {"exact_lane", "any_order_of_additions", "any_bit_pattern_keeps_its_bound",
             "every_launch_path_keeps_its_bound", "kernels_keep_their_bound_at_edges"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::tail_row_dropped_fault

// The bias kernel writes one element past its output.
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
