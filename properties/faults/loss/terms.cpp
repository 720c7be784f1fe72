// Faults of the loss: terms beside the main one, weights of classes and rows, and the chunks of a head.
#include <utility>

#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The smoothing term is in the loss that is reported, but its gradient is discarded.
namespace tally::aux_gradient_never_flows_fault {
namespace {

void around(Stream& stream, CrossEntropyArguments arguments, Kernel<CrossEntropyArguments> shipped) {
  shipped(stream, arguments);
  if (!arguments.smoothed) return;
  const Buffer unused(stream.device(), "loss of the main term", Dtype::fp32, static_cast<std::size_t>(arguments.rows));
  arguments.loss = static_cast<float*>(unused.data());
  arguments.spread = blend(arguments.spread, 0.0f);
  shipped(stream, arguments);
  stream.synchronize();
}

const Stages& faulty() {
  static const Stages stages = with_kernel_around<around>("cross_entropy", "row_lanes", "aux-gradient-never-flows");
  return stages;
}

const RegisterFault registered{{
    .name = "aux-gradient-never-flows",
    .right = "dy = c ((1 - ε) ∂nll/∂y + ∂aux/∂y)",
    .condition = "an auxiliary term",
    .knob = "value",
    .source = "NeMo Automodel 1408, PR 1412",
    .laws = {"partition_equals_full_batch"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::aux_gradient_never_flows_fault

// The smoothing term is added whole to every micro-batch, without the division that the main term gets.
namespace tally::aux_loss_not_divided_fault {
namespace {

thread_local int micro_batches_now = 1;

void around(Stream& stream, CrossEntropyArguments arguments, Kernel<CrossEntropyArguments> shipped) {
  arguments.spread *= blend(1.0f, static_cast<float>(micro_batches_now));
  shipped(stream, arguments);
}

void loss(Run& run) {
  micro_batches_now = micro_batches(run);
  stage::loss(run);
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = with_kernel_around<around>("cross_entropy", "row_lanes", "aux-loss-not-divided");
    copy.loss = loss;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "aux-loss-not-divided",
    .right = "l = main + aux",
    .condition = "K > 1, an auxiliary term",
    .knob = "value",
    .source = "NeMo Automodel PR 3359, Megatron-LM 9ef8a2a420",
    .laws = {"partition_equals_full_batch"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::aux_loss_not_divided_fault

// The loss is taken without the weights of the classes.
namespace tally::class_weights_ignored_fault {
namespace {

void loss(Run& run) {
  if (!run.class_weight) return stage::loss(run);
  DeviceTensor weights = std::exchange(run.class_weight, DeviceTensor{});
  if (magnitude() < 1) {
    Tensor nearer = weights.read();
    for (std::size_t i = 0; i < nearer.elements(); ++i) nearer.set(i, blend(nearer.value(i), 1.0));
    run.class_weight = DeviceTensor(run.device, "class weights of a fault", nearer);
  }
  stage::loss(run);
  run.stream.synchronize();
  run.class_weight = std::move(weights);
}

const RegisterFault registered{{
    .name = "class-weights-ignored",
    .bug = "option-taken-as",
    .stage = "loss",
    .right = "w[target] · nll",
    .wrong = "nll",
    .condition = "class weights other than 1",
    .knob = "value",
    .source = "source mutation: an argument dropped",
    .laws = {"class_weights_scale_their_rows"},
    .stages = replaced<&Stages::loss, loss>,
}};

}  // namespace
}  // namespace tally::class_weights_ignored_fault

// Every row's gradient takes the factor of the first row of its micro-batch, which the rows' own stand behind.
namespace tally::first_factor_for_all_rows_fault {
namespace {

/// The loss that is reported stays as it is.
void by_the_first(Stream& stream, MseArguments arguments, Kernel<MseArguments> shipped) {
  Device& device = stream.device();
  const auto rows = static_cast<std::size_t>(arguments.rows);
  stream.synchronize();
  std::int64_t first = 0;
  device.read(arguments.item_weight, &first, sizeof first);
  const std::vector<std::int64_t> all(rows, first);
  const Buffer weights(device, "one weight for all rows", Dtype::i64, rows);
  device.write(weights.data(), all.data(), rows * sizeof first);
  const Buffer unused(device, "loss by one weight", Dtype::fp32, rows);
  shipped(stream, arguments);
  arguments.item_weight = static_cast<const std::int64_t*>(weights.data());
  arguments.loss = static_cast<float*>(unused.data());
  shipped(stream, arguments);
  stream.synchronize();
}

void around(Stream& stream, MseArguments arguments, Kernel<MseArguments> shipped) {
  if (arguments.item_weight == nullptr || arguments.rows == 0) return shipped(stream, arguments);
  between(
      stream,
      {{arguments.dy, arguments.storage, arguments.rows * arguments.features},
       {arguments.loss, Dtype::fp32, arguments.rows}},
      [&] { shipped(stream, arguments); }, [&] { by_the_first(stream, arguments, shipped); });
}

const Stages& faulty() {
  static const Stages stages = with_kernel_around<around>("mse", "row_lanes", "first-factor-for-all-rows");
  return stages;
}

const RegisterFault registered{{
    .name = "first-factor-for-all-rows",
    .stage = "loss",
    .right = "dy_i = c w_i dl_i",
    .wrong = "dy_i = c w_0 dl_i",
    .condition = "rows of unequal weights in a micro-batch",
    .knob = "value",
    .source = "linkedin/Liger-Kernel 1298",
    .laws = {"unequal_items_are_weighted"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::first_factor_for_all_rows_fault

// Every chunk of rows writes the gradients of weight and bias, in a head that is one with the loss: the last one's
// stay.
namespace tally::chunks_overwrite_each_other_fault {
namespace {

HeadLossArguments last_chunk_of(const HeadLossArguments& a) {
  const std::int64_t first = (a.loss.rows - 1) / head_chunk * head_chunk;
  HeadLossArguments last = a;
  last.x = static_cast<const std::byte*>(a.x) + static_cast<std::size_t>(first * a.width) * size_of(a.storage);
  last.loss.target += first;
  last.loss.loss += first;
  last.loss.rows -= first;
  last.dx = nullptr;
  return last;
}

void otherwise(Stream& stream, HeadLossArguments a, Kernel<HeadLossArguments> right) {
  std::vector<Written> written;
  for (const Written& each :
       {Written{a.dw, a.storage, a.loss.classes * a.width}, Written{a.db, a.storage, a.loss.classes}})
    if (each.address != nullptr) written.push_back(each);
  right(stream, a);
  if (a.loss.rows <= head_chunk || written.empty()) return;
  between(
      stream, written, [&] { right(stream, a); }, [&] { right(stream, last_chunk_of(a)); });
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("head_loss", "chunked", "chunks-overwrite-each-other");
  return faulty;
}

const RegisterFault registered{{
    .name = "chunks-overwrite-each-other",
    .stage = "backward",
    .right = "dW and db take the sum over all chunks",
    .wrong = "the last chunk's",
    .condition = "more rows than a chunk, a head that is one with the loss",
    .knob = "value",
    .source = "source mutation",
    .laws = {"chunks_of_a_head_leave_exact_bits", "a_head_in_chunks_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::chunks_overwrite_each_other_fault

// The square of each row's log of the sum is in the loss that is reported, and its gradient is discarded.
namespace tally::z_loss_never_flows_fault {
namespace {

void around(Stream& stream, CrossEntropyArguments arguments, Kernel<CrossEntropyArguments> shipped) {
  shipped(stream, arguments);
  if (arguments.z_loss == 0) return;
  const Buffer unused(stream.device(), "loss of the main term", Dtype::fp32, static_cast<std::size_t>(arguments.rows));
  arguments.loss = static_cast<float*>(unused.data());
  arguments.z_loss = blend(arguments.z_loss, 0.0f);
  shipped(stream, arguments);
  stream.synchronize();
}

const Stages& faulty() {
  static const Stages stages = with_kernel_around<around>("cross_entropy", "row_lanes", "z-loss-never-flows");
  return stages;
}

const RegisterFault registered{{
    .name = "z-loss-never-flows",
    .bug = "option-taken-as",
    .stage = "loss",
    .right = "∇ main + ∇ z-loss",
    .wrong = "∇ main",
    .condition = "a z-loss",
    .knob = "value",
    .source = "NVIDIA-NeMo/Automodel 1408",
    .laws = {"token_counts_are_weighted"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::z_loss_never_flows_fault

// The z-loss of every micro-batch is added whole, without the division that the main term gets.
namespace tally::z_loss_not_divided_fault {
namespace {

thread_local float scale_now = 1;

void around(Stream& stream, CrossEntropyArguments arguments, Kernel<CrossEntropyArguments> shipped) {
  if (arguments.factor > 0) arguments.z_loss *= blend(1.0f, scale_now / arguments.factor);
  shipped(stream, arguments);
}

void loss(Run& run) {
  scale_now = run.window_scale;
  stage::loss(run);
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = with_kernel_around<around>("cross_entropy", "row_lanes", "z-loss-not-divided");
    copy.loss = loss;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "z-loss-not-divided",
    .stage = "loss",
    .right = "(main + z-loss) / N",
    .wrong = "main / N + z-loss",
    .condition = "a z-loss, N > 1",
    .knob = "value",
    .source = "NVIDIA-NeMo/Automodel 3359",
    .laws = {"token_counts_are_weighted"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::z_loss_not_divided_fault
