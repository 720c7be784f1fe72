// Faults of attention that need no kernel of their own: masks, rows of other sequences, scales and slices.
#include "properties/faults/attention/attention.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/layer_arguments.hpp"
#include "oracle/case/rows.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"
#include "properties/faults/tokens/tokens.hpp"

// With recomputation, backward drops other weights of attention than forward did.
namespace tally::attention_mask_redrawn_fault {
namespace {

/// Its elements in reverse, as many of them as the magnitude says.
Tensor redrawn(const Tensor& mask) {
  Tensor other = mask;
  for (std::size_t i = 0; i < mask.elements(); ++i)
    if (hits(i)) other.bytes[i] = mask.bytes[mask.elements() - 1 - i];
  return other;
}

void backward(Run& run) {
  if (!run.c.execution.recompute) return stage::backward(run);
  std::vector<DeviceTensor> kept;
  for (LayerState& layer : run.layers)
    if (drops_weights(layer))
      kept.push_back(std::exchange(layer.mask, DeviceTensor(run.device, "another mask", redrawn(layer.mask.read()))));
  stage::backward(run);
  run.stream.synchronize();
  std::size_t next = 0;
  for (LayerState& layer : run.layers)
    if (drops_weights(layer)) layer.mask = std::move(kept[next++]);
}

const RegisterFault registered{{
    .name = "attention-mask-redrawn",
    .stage = "backward",
    .right = "the mask belongs to the sequence, the head, the query and the key",
    .wrong = "another mask in backward and in the forward pass that it runs again",
    .condition = "attention with p > 0, recomputation",
    .knob = "elements",
    .source = "allenai/OLMo-core 828, pytorch/pytorch 190717, openai/guided-diffusion 167",
    .laws = {"recomputation_changes_nothing"},
    .stages = replaced<&Stages::backward, backward>,
}};

}  // namespace
}  // namespace tally::attention_mask_redrawn_fault

// Sequences of a micro-batch are one to attention: a row sees the rows of all that stand before it.
namespace tally::packed_attention_crosses_fault {
namespace {

/// As if every micro-batch were one sequence.
void forward(Run& run) {
  if (!run.sequence_begin || run.recomputing || drops_weights(run)) return stage::forward(run);
  Tensor begin(Dtype::i64, run.sequence_begin.shape), end(Dtype::i64, run.sequence_end.shape);
  std::size_t row = 0;
  for (const auto& window : run.c.windows)
    for (const std::int64_t rows : window)
      for (std::int64_t i = 0; i < rows; ++i, ++row) end.set_bits(row, static_cast<std::uint64_t>(rows));
  run.sequence_begin = DeviceTensor(run.device, "sequence begins", begin);
  run.sequence_end = DeviceTensor(run.device, "sequence ends", end);
  stage::forward(run);
}

const RegisterFault registered{{
    .name = "packed-attention-crosses",
    .stage = "forward",
    .right = "a row sees the rows of its own sequence",
    .wrong = "a row sees the rows of every sequence before it in the micro-batch",
    .condition = "several sequences in a micro-batch, no weight dropped",
    .knob = "none",
    .source = "huggingface/trl 3526, huggingface/nanoVLM 204",
    .laws = {"sequences_do_not_meet"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::packed_attention_crosses_fault

// A row of padding sees no row, not even itself: what attention leaves there is 0 / 0.
namespace tally::fully_masked_row_nan_fault {
namespace {

void attend(Run& run, LayerState& layer, int k) {
  layer_steps("attention").forward(run, layer, k);
  const std::vector<std::int64_t> padding = padding_up_to(run.c);
  Tensor row(run.c.precision.storage, {layer.out});
  for (std::size_t i = 0; i < row.elements(); ++i) row.set(i, std::numeric_limits<double>::quiet_NaN());
  run.stream.synchronize();
  for (std::int64_t i = 0; i < run.rows(k); ++i) {
    if (padding[static_cast<std::size_t>(run.first_row(k) + i)] == 0) continue;
    std::byte* y = static_cast<std::byte*>(run.y_of(layer, k)) + static_cast<std::size_t>(i) * row.bytes.size();
    run.device.write(y, row.bytes.data(), row.bytes.size());
  }
}

void forward(Run& run) {
  static const LayerSteps steps{attend, layer_steps("attention").backward};
  for (LayerState& layer : run.layers)
    if (layer.layer->kind == "attention") layer.steps = &steps;
  stage::forward(run);
}

const RegisterFault registered{{
    .name = "fully-masked-row-nan",
    .stage = "forward",
    .right = "a row of padding sees itself",
    .wrong = "a row of padding sees no row: 0 / 0",
    .condition = "padding, and attention",
    .knob = "none",
    .source = "pytorch/pytorch 103749, unslothai/unsloth 9848",
    .laws = {"padding_leaves_nothing"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::fully_masked_row_nan_fault

// Attention's backward pass reads the rows behind a sequence, up to where its line ends: padding is seen.
namespace tally::slack_rows_read_fault {
namespace {

Tensor ends_of_lines(const Case& c) {
  const SequenceRows sequences = sequence_rows(c);
  const std::vector<std::int64_t> padding = padding_up_to(c);
  Tensor ends(Dtype::i64, {static_cast<std::int64_t>(padding.size())});
  std::size_t row = 0;
  for (const auto& window : c.windows) {
    for (const std::int64_t size : window) {
      const std::size_t first = row;
      for (std::int64_t i = 0; i < size; ++i, ++row) {
        std::int64_t end = sequences.end[row];
        while (padding[row] == 0 && end < size && padding[first + static_cast<std::size_t>(end)] > 0) ++end;
        ends.set_bits(row, static_cast<std::uint64_t>(end));
      }
    }
  }
  return ends;
}

void backward(Run& run) {
  if (!run.sequence_end || drops_weights(run)) return stage::backward(run);
  DeviceTensor wrong(run.device, "ends of lines", ends_of_lines(run.c));
  std::swap(run.sequence_end, wrong);
  stage::backward(run);
  std::swap(run.sequence_end, wrong);
}

const RegisterFault registered{{
    .name = "slack-rows-read",
    .stage = "backward",
    .right = "a row's gradient adds over the rows of its sequence",
    .wrong = "it adds over the rows of its line, padding among them",
    .condition = "padding on the right, and attention that is not causal and drops no weight",
    .knob = "none",
    .source = "fla-org/flash-linear-attention 892",
    .laws = {"padding_leaves_nothing"},
    .stages = replaced<&Stages::backward, backward>,
}};

}  // namespace
}  // namespace tally::slack_rows_read_fault

// Attention does not scale its scores.
namespace tally::attention_scale_missing_fault {
namespace {

void otherwise(Stream& stream, AttentionArguments arguments, Kernel<AttentionArguments> right) {
  arguments.scale = 1;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("attention.forward", "naive", "attention-scale-missing");
  return faulty;
}

const RegisterFault registered{{
    .name = "attention-scale-missing",
    .bug = "option-taken-as",
    .stage = "forward",
    .right = "t = q . k / sqrt(d)",
    .wrong = "t = q . k",
    .condition = "heads of two features",
    .knob = "none",
    .source = "mlc-ai/mlc-llm 3426",
    .laws = {"every_attention_keeps_its_bound", "blocks_change_rounding_only"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::attention_scale_missing_fault

// Attention scales its scores by the features of all heads together.
namespace tally::scale_by_model_width_fault {
namespace {

void otherwise(Stream& stream, AttentionArguments arguments, Kernel<AttentionArguments> right) {
  arguments.scale /= std::sqrt(static_cast<float>(arguments.heads));
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("attention.forward", "naive", "scale-by-model-width");
  return faulty;
}

const RegisterFault registered{{
    .name = "scale-by-model-width",
    .stage = "forward",
    .right = "1 / sqrt(d)",
    .wrong = "1 / sqrt(H d)",
    .condition = "several heads",
    .knob = "none",
    .source = "lucidrains/vit-pytorch 65, Graylab/DL4Proteins-notebooks 12",
    .laws = {"every_attention_keeps_its_bound", "groups_equal_copies", "blocks_change_rounding_only"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::scale_by_model_width_fault

// Backward through attention does not scale the scores' gradients.
namespace tally::scale_missing_in_backward_fault {
namespace {

void otherwise(Stream& stream, AttentionArguments arguments, Kernel<AttentionArguments> right) {
  arguments.scale = 1;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty =
      with_kernel_around<otherwise>("attention.backward", "naive", "scale-missing-in-backward");
  return faulty;
}

const RegisterFault registered{{
    .name = "scale-missing-in-backward",
    .bug = "option-taken-as",
    .stage = "backward",
    .right = "dq = s dS k, with the scores of forward",
    .wrong = "s = 1",
    .condition = "heads of two features",
    .knob = "none",
    .source = "source mutation",
    .laws = {"blocks_change_rounding_only", "every_attention_keeps_its_bound", "groups_equal_copies"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::scale_missing_in_backward_fault

// Every slice of a fused product begins at its first feature: k and v are q.
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
