// Suspects of loss: what the sum is divided by.
#include <limits>

#include "oracle/case/ranks.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally::loss_denominators_suspect {
namespace {

/// The factor of a rank that trains alone: where several do, what it counts by itself is no divisor of its window.
bool is_own_factor(const Evidence& evidence, const HeldTensor& held) {
  return held.name.tensor == "in.factor" && ranks_of(whole_of(evidence.c)) == 1;
}

// A short window is divided by the K of the others.
namespace configured_k {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double own = evidence.micro_batches(held.name.window), configured = evidence.micro_batches(0);
  return times(held.expected, own / configured);
}

const RegisterSuspect registered{{
    .name = "last-window-wrong-divisor",
    .faults = {"last-window-wrong-divisor"},
    .stages = {"loss"},
    .sentence = "a short window is divided by the K of the others, not by its own",
    .formula = "c = S r / (K N)",
    .remedy =
        "divide by the micro-batches that the window has, {K} here, or by its {N} items; or leave short windows out",
    .left = left,
}};

}  // namespace configured_k

// The divisor counts one micro-batch too few.
namespace k_minus_one {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double k = evidence.micro_batches(held.name.window);
  if (k < 2) return std::nullopt;
  return times(held.expected, k / (k - 1));
}

const RegisterSuspect registered{{
    .name = "divided-by-k-minus-1",
    .faults = {"divided-by-k-minus-1"},
    .stages = {"loss"},
    .sentence = "the divisor counts one micro-batch too few",
    .formula = "c = S K / ((K - 1) N)",
    .remedy = "divide by the window's {K} micro-batches: the loop counts one too few",
    .left = left,
}};

}  // namespace k_minus_one

// Every micro-batch is averaged by itself: wrong as soon as their items differ.
namespace mean_of_means {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double items = evidence.items(held.name.window, held.name.micro_batch);
  if (items == 0) return Values{0.0};
  return Values{evidence.scale(held.name.window) / (evidence.micro_batches(held.name.window) * items)};
}

const RegisterSuspect registered{{
    .name = "mean-of-means",
    .faults = {"mean-of-means"},
    .stages = {"loss"},
    .sentence = "every micro-batch is divided by its own items, and the window by K",
    .formula = "c = S / (K n_k)",
    .remedy =
        "divide by the window's {N} items, not by {K} times the micro-batch's own {n_k}: `loss.sum() / window_items`",
    .left = left,
}};

}  // namespace mean_of_means

// Nobody divides by the window's items.
namespace missing_divisor {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  return Values{evidence.scale(held.name.window)};
}

const RegisterSuspect registered{{
    .name = "sum-not-mean",
    .faults = {"sum-not-mean"},
    .stages = {"loss"},
    .sentence = "the gradient is a sum over the items, not their mean: nothing divides it",
    .formula = "c = S",
    .remedy = "divide by the window's {N} items: `loss.sum() / window_items`",
    .left = left,
}};

}  // namespace missing_divisor

// The loss is divided by K although N already counts the whole window.
namespace over_k {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  return times(held.expected, 1.0 / evidence.micro_batches(held.name.window));
}

const RegisterSuspect registered{{
    .name = "over-k",
    .faults = {},
    .stages = {"loss"},
    .sentence = "the loss is divided by K although N counts the whole window",
    .formula = "c = S / (K N)",
    .remedy = "leave out one division by the window's {K} micro-batches: the loss is divided already "
              "(`accelerator.backward` and Lightning divide by themselves)",
    .left = left,
}};

}  // namespace over_k

// Every micro-batch divides by its own items and nobody divides by K.
namespace own_items {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double items = evidence.items(held.name.window, held.name.micro_batch);
  return Values{items == 0 ? 0.0 : evidence.scale(held.name.window) / items};
}

const RegisterSuspect registered{{
    .name = "own-items",
    .faults = {"denominator-kwarg-dropped", "denominator-skipped-branch"},
    .stages = {"loss"},
    .sentence = "every micro-batch is divided by its own items only, and not by K",
    .formula = "c = S / n_k",
    .remedy = "divide by the window's {N} items, not by the micro-batch's own {n_k}: `loss.sum() / window_items`",
    .left = left,
}};

}  // namespace own_items

// The window's one factor depends on the items of the micro-batch.
namespace weighed_by_own_items {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const int window = held.name.window;
  const double items = evidence.items(window);
  if (items == 0) return std::nullopt;
  return times(held.expected, evidence.items(window, held.name.micro_batch) * evidence.micro_batches(window) / items);
}

const RegisterSuspect registered{{
    .name = "per-microbatch-weight",
    .faults = {"per-microbatch-weight"},
    .stages = {"loss"},
    .sentence = "every micro-batch's sum is also weighted by its share of the items",
    .formula = "c = (S / N) (n_k K / N)",
    .remedy = "weight each micro-batch once: divide its sum by the window's {N} items, without its share of them",
    .left = left,
}};

}  // namespace weighed_by_own_items

// Ignored rows are counted in the denominator.
namespace ignored_rows_counted {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int w = held.name.window, k = held.name.micro_batch;
  if (held.name.stage == StageName::count)
    return Values{static_cast<double>(k < 0 ? evidence.rows(w) : evidence.rows(w, k))};
  if (!is_own_factor(evidence, held)) return std::nullopt;
  return Values{evidence.scale(w) / static_cast<double>(evidence.rows(w))};
}

const RegisterSuspect registered{{
    .name = "denominator-counts-ignored",
    .faults = {"denominator-counts-ignored"},
    .stages = {"count", "loss"},
    .sentence = "the denominator counts ignored rows",
    .formula = "N = rows",
    .remedy = "divide by the labels that count: `(labels != -100).sum()` over the window, not by its rows",
    .left = left,
}};

}  // namespace ignored_rows_counted

// Counts are kept in bf16.
namespace counted_in_bf16 {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int w = held.name.window, k = held.name.micro_batch;
  const bool counts = held.name.stage == StageName::count;
  if (!counts && !is_own_factor(evidence, held)) return std::nullopt;
  const double items = rounded_to(Dtype::bf16, counts && k >= 0 ? evidence.items(w, k) : evidence.items(w));
  return Values{counts ? items : items == 0 ? 0.0 : evidence.scale(w) / items};
}

const RegisterSuspect registered{{
    .name = "items-counted-in-16-bits",
    .faults = {"items-counted-in-16-bits"},
    .stages = {"count", "loss"},
    .sentence = "items are counted in bf16, which cannot count beyond 256",
    .formula = "N = bf16(N)",
    .remedy = "count items in int64 or fp32: `mask.sum()`, not `mask.to(torch.bfloat16).sum()`",
    .left = left,
}};

}  // namespace counted_in_bf16

// The denominator counts one item more for every row.
namespace positions_counted_too {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (!is_own_factor(evidence, held)) return std::nullopt;
  const double items = evidence.items(held.name.window);
  return times(held.expected, items / (items + static_cast<double>(evidence.rows(held.name.window))));
}

const RegisterSuspect registered{{
    .name = "denominator-unshifted-labels",
    .faults = {"denominator-unshifted-labels"},
    .stages = {"loss"},
    .sentence = "the denominator counts one item too many in every row, such as a first position that nothing predicts",
    .formula = "c = S / (N + rows)",
    .remedy = "count the labels after the shift: `(labels[:, 1:] != -100).sum()`",
    .left = left,
}};

}  // namespace positions_counted_too

// Rows are counted where their weights should be added.
namespace rows_for_items {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (!is_own_factor(evidence, held)) return std::nullopt;
  const int w = held.name.window;
  const std::int64_t first = first_row(evidence.c, static_cast<std::size_t>(w));
  int counted = 0;
  for (std::int64_t i = 0; i < evidence.rows(w); ++i) counted += item_weight(evidence.c, first + i).to_double() != 0;
  return Values{counted == 0 ? 0.0 : evidence.scale(w) / counted};
}

const RegisterSuspect registered{{
    .name = "wrong-item-kind",
    .faults = {"wrong-item-kind"},
    .stages = {"loss"},
    .sentence = "the denominator counts rows, not the items in them: sentences, not tokens",
    .formula = "c = S / (rows of weight other than 0)",
    .remedy = "divide by the items that count, such as tokens: {N} in the window, not its rows",
    .left = left,
}};

}  // namespace rows_for_items

// The mean over no items.
namespace empty_micro_batch_nan {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  if (evidence.items(held.name.window, held.name.micro_batch) != 0) return std::nullopt;
  return Values{std::numeric_limits<double>::quiet_NaN()};
}

const RegisterSuspect registered{{
    .name = "zero-valid-items-nan",
    .faults = {"zero-valid-items-nan"},
    .stages = {"loss"},
    .sentence = "a micro-batch without items divides zero by zero",
    .formula = "c = S 0 / 0",
    .remedy = "skip a micro-batch without items, or divide by the window's {N} items: 0 / 0 is NaN",
    .left = left,
}};

}  // namespace empty_micro_batch_nan

}  // namespace
}  // namespace tally::loss_denominators_suspect
