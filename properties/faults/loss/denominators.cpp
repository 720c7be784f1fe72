// Faults of the loss: what its sum is divided by.
#include "properties/faults/loss/denominators.hpp"

#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {

void begin_miscounting(Run& run, Miscount wrong) {
  stage::begin_window(run);
  const auto right = counted_items(run.c, static_cast<std::size_t>(run.window));
  if (!right) return;
  CountedItems left = wrong(run, *right);
  for (std::size_t k = 0; k < left.of_micro_batch.size(); ++k)
    left.of_micro_batch[k] = blend_whole(right->of_micro_batch[k], left.of_micro_batch[k]);
  left.of_window = blend_whole(right->of_window, left.of_window);
  stage::leave_counts(run, left);
}

CountedItems counted_by(const Run& run, const std::function<std::int64_t(std::int64_t row)>& of_row) {
  CountedItems counted;
  for (int k = 0; k < micro_batches(run); ++k) {
    std::int64_t& items = counted.of_micro_batch.emplace_back(0);
    for (std::int64_t row = run.first_row(k); row < run.first_row(k) + run.rows(k); ++row) items += of_row(row);
    counted.of_window += items;
  }
  return counted;
}

}  // namespace tally

// Rows that are ignored are counted, padding with them.
namespace tally::denominator_counts_ignored_fault {
namespace {

CountedItems all_rows(const Run& run, const CountedItems&) {
  return counted_by(run, [](std::int64_t) { return 1; });
}

const RegisterFault registered{{
    .name = "denominator-counts-ignored",
    .stage = "count",
    .right = "N = items that count",
    .condition = "ignored rows",
    .knob = "rows",
    .source = "transformers PR 46204, axolotl-ai-cloud/axolotl 2227",
    .laws = {"unequal_items_are_weighted"},
    .stages = replaced<&Stages::begin_window, miscounted<all_rows>>,
}};

}  // namespace
}  // namespace tally::denominator_counts_ignored_fault

// The first position of every row is counted, though it is never predicted: one item too many a row.
namespace tally::denominator_unshifted_labels_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  std::int64_t rows = 0;
  for (int k = 0; k < micro_batches(run); ++k) rows += run.rows(k);
  const double over = run.window_items + static_cast<double>(rows);
  run.factor *= static_cast<float>(run.window_items / over);
}

const RegisterFault registered{{
    .name = "denominator-unshifted-labels",
    .right = "c = S / N",
    .condition = "every batch; 1 / T of the gradient",
    .knob = "value",
    .source = "transformers PR 46204",
    .laws = {"partition_equals_full_batch"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::denominator_unshifted_labels_fault

// Counts of items are kept in bf16, whose whole numbers end at 256.
namespace tally::items_counted_in_16_bits_fault {
namespace {

std::int64_t in_bf16(std::int64_t count) {
  Tensor kept(Dtype::bf16, {});
  kept.set(0, static_cast<double>(count));
  return static_cast<std::int64_t>(kept.value(0));
}

CountedItems kept_in_bf16(const Run&, const CountedItems& right) {
  CountedItems left = right;
  for (std::int64_t& items : left.of_micro_batch) items = in_bf16(items);
  left.of_window = in_bf16(right.of_window);
  return left;
}

const RegisterFault registered{{
    .name = "items-counted-in-16-bits",
    .stage = "count",
    .right = "N in i64",
    .condition = "more than 256 items in a window",
    .knob = "rows",
    .source = "source mutation",
    .laws = {"every_look_up_keeps_its_bound", "every_attention_keeps_its_bound"},
    .stages = replaced<&Stages::begin_window, miscounted<kept_in_bf16>>,
}};

}  // namespace
}  // namespace tally::items_counted_in_16_bits_fault

// Every row that counts is counted once, whatever it weighs: sentences for tokens.
namespace tally::wrong_item_kind_fault {
namespace {

void factor(Run& run) {
  int counted = 0;
  for (int k = 0; k < micro_batches(run); ++k) {
    for (std::int64_t i = 0; i < run.rows(k); ++i) counted += item_weight(run.c, run.first_row(k) + i).to_double() != 0;
  }
  run.factor = counted == 0 ? 0.0f : run.window_scale / static_cast<float>(counted);
}

const RegisterFault registered{{
    .name = "wrong-item-kind",
    .right = "c = S / Σ weights",
    .condition = "rows of weight other than 1",
    .knob = "value",
    .source = "OpenNMT-py PR 526, 2209",
    .laws = {"unequal_items_are_weighted"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::wrong_item_kind_fault

// The model does not pass the number of items on, so its loss divides by the micro-batch's own.
namespace tally::denominator_kwarg_dropped_fault {
namespace {

void factor(Run& run) {
  const double items = run.items(run.micro_batch);
  run.factor = items == 0 ? 0.0f : static_cast<float>(static_cast<double>(run.window_scale) / items);
}

const RegisterFault registered{{
    .name = "denominator-kwarg-dropped",
    .bug = "own-items",
    .right = "c = S / N",
    .condition = "K > 1",
    .knob = "value",
    .source = "transformers 37197, 37766, unsloth 4725",
    .laws = {"partition_equals_full_batch", "unequal_items_are_weighted"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::denominator_kwarg_dropped_fault

// The branch with label smoothing divides by the micro-batch's items.
namespace tally::denominator_skipped_branch_fault {
namespace {

bool smooths(const Choice& loss) {
  return loss.kind == "cross_entropy" && loss.number("label_smoothing").to_double() != 0;
}

void factor(Run& run) {
  stage::fix_factor(run);
  const double items = run.items(run.micro_batch);
  if (!smooths(run.c.model.loss) || items == 0) return;
  run.factor = static_cast<float>(static_cast<double>(run.window_scale) / items);
}

const RegisterFault registered{{
    .name = "denominator-skipped-branch",
    .bug = "own-items",
    .right = "c = S / N",
    .condition = "label smoothing, K > 1",
    .knob = "value",
    .source = "transformers 46731, PR 47261",
    .laws = {"partition_equals_full_batch"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::denominator_skipped_branch_fault

// Every micro-batch divides by its own items, and the window by K: right only for equal sizes.
namespace tally::mean_of_means_fault {
namespace {

void factor(Run& run) {
  const double items = run.items(run.micro_batch);
  run.factor = items == 0 ? 0.0f : static_cast<float>(run.window_scale / (micro_batches(run) * items));
}

const RegisterFault registered{{
    .name = "mean-of-means",
    .right = "c = S / N",
    .condition = "unequal n_k",
    .knob = "value",
    .source = "transformers PR 34191, torchtune PR 1875",
    .laws = {"unequal_items_are_weighted", "partition_equals_full_batch", "layer_norm_leaves_no_gap"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::mean_of_means_fault

// The window's divisor counts one micro-batch too few: at K = 64 all gradients are 1.6 % too large.
namespace tally::divided_by_k_minus_1_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  const auto k = static_cast<float>(micro_batches(run));
  if (k > 1) run.factor *= k / (k - 1);
}

const RegisterFault registered{{
    .name = "divided-by-k-minus-1",
    .right = "c = S / N",
    .condition = "K > 1",
    .knob = "value",
    .source = "Lightning 19987, transformers 37777",
    .laws = {"many_micro_batches_stay_bounded", "partition_equals_full_batch", "equal_sizes_make_means_agree"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::divided_by_k_minus_1_fault

// The short last window divides by the K of the others.
namespace tally::last_window_wrong_divisor_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  const auto configured = static_cast<float>(run.c.windows.front().size());
  run.factor *= static_cast<float>(micro_batches(run)) / configured;
}

const RegisterFault registered{{
    .name = "last-window-wrong-divisor",
    .right = "c = S / N",
    .condition = "a last window with r < K micro-batches",
    .knob = "value",
    .source = "Lightning 19987, ms-swift PR 10084",
    .laws = {"short_tail_window"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::last_window_wrong_divisor_fault

// Nobody divides.
namespace tally::sum_not_mean_fault {
namespace {

void factor(Run& run) { run.factor = run.window_scale; }

const RegisterFault registered{{
    .name = "sum-not-mean",
    .right = "c = S / N",
    .condition = "N > 1",
    .knob = "value",
    .source = "Lightning 87, nanoGPT 168",
    .laws = {"many_micro_batches_stay_bounded", "partition_equals_full_batch", "equal_sizes_make_means_agree",
             "ordinary_networks_are_judged"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::sum_not_mean_fault
