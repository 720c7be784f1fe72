// Faults of labels and positions of tokens: the shift, the count, and where a sequence begins.
#include "properties/faults/tokens/tokens.hpp"

#include <algorithm>
#include <limits>

#include "oracle/case/contract.hpp"
#include "oracle/case/rows.hpp"
#include "properties/faults/loss/denominators.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {

std::int64_t last_position(const Run& run) {
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
  for (const LayerState& layer : run.layers)
    if (const std::string& length = contract_of("layer", *layer.layer).table_length; !length.empty())
      last = std::min(last, layer.layer->integer(length) - 1);
  return last;
}

std::vector<std::int64_t> padding_up_to(const Case& c) {
  const SequenceRows sequences = sequence_rows(c);
  std::vector<std::int64_t> counts(sequences.begin.size(), 0);
  if (!has_class_targets(c.model.loss)) return counts;
  const ScoredTarget scored(c);
  std::size_t row = 0;
  for (const auto& window : c.windows) {
    for (const std::int64_t size : window) {
      for (std::int64_t i = 0; i < size; ++i, ++row) {
        const bool single = sequences.end[row] - sequences.begin[row] == 1;
        if (!single || (*scored).integer(row) != c.model.loss.integer("ignore_index")) continue;
        counts[row] = 1 + (i == 0 ? 0 : counts[row - 1]);
      }
    }
  }
  return counts;
}

}  // namespace tally

// Every row is scored by its own label, which its token has told already.
namespace tally::labels_not_shifted_fault {
namespace {

void loss(Run& run) {
  if (!shifts_labels(run.c.model.loss)) return stage::loss(run);
  loss_by(run, run.c.tensors.at("target"));
}

const RegisterFault registered{{
    .name = "labels-not-shifted",
    .right = "t_i = label i + 1",
    .condition = "labels are shifted",
    .knob = "none",
    .source = "source mutation",
    .laws = {"token_counts_are_weighted", "the_shift_stays_inside"},
    .stages = replaced<&Stages::loss, loss>,
}};

}  // namespace
}  // namespace tally::labels_not_shifted_fault

// A collator shifts the labels, and the loss shifts them again.
namespace tally::shifted_twice_fault {
namespace {

void loss(Run& run) {
  if (!shifts_labels(run.c.model.loss)) return stage::loss(run);
  Case shifted_once = run.c;
  shifted_once.tensors.at("target") = *ScoredTarget(run.c);
  loss_by(run, *ScoredTarget(shifted_once));
}

const RegisterFault registered{{
    .name = "shifted-twice",
    .right = "t_i = label i + 1",
    .condition = "labels are shifted",
    .knob = "none",
    .source = "source mutation",
    .laws = {"token_counts_are_weighted"},
    .stages = replaced<&Stages::loss, loss>,
}};

}  // namespace
}  // namespace tally::shifted_twice_fault

// The last row of a sequence is scored by the first label of the next one in its micro-batch.
namespace tally::shift_crosses_sequences_fault {
namespace {

void loss(Run& run) {
  if (!shifts_labels(run.c.model.loss)) return stage::loss(run);
  Case one_sequence = run.c;
  one_sequence.sequences.clear();
  for (const auto& window : run.c.windows)
    one_sequence.sequences.insert(one_sequence.sequences.end(), window.begin(), window.end());
  loss_by(run, *ScoredTarget(one_sequence));
}

const RegisterFault registered{{
    .name = "shift-crosses-sequences",
    .right = "t_i = label i + 1, of its own sequence",
    .condition = "several sequences in a micro-batch",
    .knob = "none",
    .source = "pytorch/torchtitan 4075, huggingface/trl 5854",
    .laws = {"the_shift_stays_inside", "token_counts_are_weighted"},
    .stages = replaced<&Stages::loss, loss>,
}};

}  // namespace
}  // namespace tally::shift_crosses_sequences_fault

// One label a sequence is taken off the labels behind the shift again, though the shift has left it out.
namespace tally::boundaries_subtracted_twice_fault {
namespace {

CountedItems without_boundaries(const Run& run, const CountedItems& right) {
  if (!shifts_labels(run.c.model.loss)) return right;
  const std::vector<std::int64_t> places = places_in_sequences(run.c);
  CountedItems left =
      counted_by(run, [&](std::int64_t row) { return places[static_cast<std::size_t>(row)] == 0 ? -1 : 0; });
  for (std::size_t k = 0; k < left.of_micro_batch.size(); ++k) left.of_micro_batch[k] += right.of_micro_batch[k];
  left.of_window += right.of_window;
  return left;
}

const RegisterFault registered{{
    .name = "boundaries-subtracted-twice",
    .stage = "count",
    .right = "N = labels behind the shift",
    .condition = "labels are shifted",
    .knob = "rows",
    .source = "unslothai/unsloth-zoo 1066",
    .laws = {"token_counts_are_weighted"},
    .stages = replaced<&Stages::begin_window, miscounted<without_boundaries>>,
}};

}  // namespace
}  // namespace tally::boundaries_subtracted_twice_fault

// The labels that are counted are those of the rows themselves, before the shift: a sequence's first one too.
namespace tally::tokens_counted_before_shift_fault {
namespace {

CountedItems before_the_shift(const Run& run, const CountedItems& right) {
  const Choice& loss = run.c.model.loss;
  if (!shifts_labels(loss)) return right;
  const Tensor& target = run.c.tensors.at("target");
  return counted_by(run, [&](std::int64_t row) {
    return target.integer(static_cast<std::size_t>(row)) != loss.integer("ignore_index") ? 1 : 0;
  });
}

const RegisterFault registered{{
    .name = "tokens-counted-before-shift",
    .stage = "count",
    .right = "N = labels behind the shift",
    .condition = "a first label that is scored by nothing",
    .knob = "rows",
    .source = "huggingface/transformers 46204, Liquid4All/liquid-finetune 40",
    .laws = {"token_counts_are_weighted"},
    .stages = replaced<&Stages::begin_window, miscounted<before_the_shift>>,
}};

}  // namespace
}  // namespace tally::tokens_counted_before_shift_fault

// Positions count the columns of a line, padding on its left among them, and not the rows of its sequence.
namespace tally::left_padding_shifts_positions_fault {
namespace {

Tensor columns(const Run& run) {
  Tensor positions = positions_of(run.c);
  positions.drawing.reset();
  const std::vector<std::int64_t> places = places_in_sequences(run.c), padding = padding_up_to(run.c);
  const std::int64_t last = last_position(run);
  std::int64_t shift = 0;
  for (std::size_t row = 0; row < places.size(); ++row) {
    if (places[row] == 0) shift = padding[row] == 0 && row > 0 ? padding[row - 1] : 0;
    const std::int64_t column = std::min(positions.integer(row) + shift, last);
    positions.set_bits(row, static_cast<std::uint64_t>(column));
  }
  return positions;
}

void forward(Run& run) {
  if (!run.positions || run.recomputing) return stage::forward(run);
  run.positions = DeviceTensor(run.device, "positions", columns(run));
  stage::forward(run);
}

const RegisterFault registered{{
    .name = "left-padding-shifts-positions",
    .stage = "forward",
    .right = "position 0 at the start of a sequence",
    .wrong = "position 0 at the start of a line",
    .condition = "padding on the left, and positions",
    .knob = "none",
    .source = "tloen/alpaca-lora 315, ndif-team/nnsight 672",
    .laws = {"padding_leaves_nothing"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::left_padding_shifts_positions_fault

// Positions count the rows of a micro-batch on, and do not begin again with every sequence.
namespace tally::positions_run_on_fault {
namespace {

Tensor positions_running_on(const Run& run) {
  const std::int64_t last = last_position(run);
  Tensor positions(Dtype::i64, run.positions.shape);
  std::size_t row = 0;
  for (const auto& window : run.c.windows)
    for (const std::int64_t rows : window)
      for (std::int64_t i = 0; i < rows; ++i) positions.set_bits(row++, static_cast<std::uint64_t>(std::min(i, last)));
  return positions;
}

void forward(Run& run) {
  if (!run.positions || run.recomputing) return stage::forward(run);
  run.positions = DeviceTensor(run.device, "positions", positions_running_on(run));
  stage::forward(run);
}

const RegisterFault registered{{
    .name = "positions-run-on",
    .stage = "forward",
    .right = "p_i = i - the start of its sequence",
    .condition = "several sequences in a micro-batch, and positions",
    .knob = "none",
    .source = "pytorch/torchtitan 2559, allenai/OLMo-core 591, epfLLM/Megatron-LLM 23",
    .laws = {"token_counts_are_weighted", "names_of_tokens_do_not_matter"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::positions_run_on_fault
