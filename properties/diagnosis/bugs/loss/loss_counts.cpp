// Bugs of count and loss: what is counted as an item.
#include <limits>

#include "oracle/case/ranks.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/diagnosis/bug.hpp"

namespace tally::loss_counts_bug {
namespace {

/// The factor of a rank that trains alone: where several do, what it counts by itself is no divisor of its window.
bool is_own_factor(const Evidence& evidence, const HeldTensor& held) {
  return held.name.tensor == "in.factor" && ranks_of(whole_of(evidence.c)) == 1;
}

// Ignored rows are counted in the denominator.
namespace ignored_rows_counted {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int w = held.name.window, k = held.name.micro_batch;
  if (held.name.stage == StageName::count)
    return Values{static_cast<double>(k < 0 ? evidence.rows(w) : evidence.rows(w, k))};
  if (!is_own_factor(evidence, held)) return std::nullopt;
  return Values{evidence.scale(w) / static_cast<double>(evidence.rows(w))};
}

std::vector<Restated> restated(const Case& c, const Trace& trace) {
  if (trace.claims.divide == "window") return {};
  Restated way;
  way.deviation.divisor = [&c](int w, int) {
    long double rows = 0;
    for (const std::int64_t own : c.windows[static_cast<std::size_t>(w)]) rows += static_cast<long double>(own);
    return rows;
  };
  way.changed = 2;
  way.formula = "c = S / rows";
  return {way};
}

const RegisterBug registered{{
    .name = "denominator-counts-ignored",
    .stages = {"count", "loss"},
    .sentence = "the denominator counts ignored rows",
    .formula = "N = rows",
    .remedy = "divide by the labels that count: `(labels != -100).sum()` over the window, not by its rows",
    .left = left,
    .restated = restated,
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

const RegisterBug registered{{
    .name = "items-counted-in-16-bits",
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

const RegisterBug registered{{
    .name = "denominator-unshifted-labels",
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

const RegisterBug registered{{
    .name = "wrong-item-kind",
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

const RegisterBug registered{{
    .name = "zero-valid-items-nan",
    .stages = {"loss"},
    .sentence = "a micro-batch without items divides zero by zero",
    .formula = "c = S 0 / 0",
    .remedy = "skip a micro-batch without items, or divide by the window's {N} items: 0 / 0 is NaN",
    .left = left,
}};

}  // namespace empty_micro_batch_nan

}  // namespace
}  // namespace tally::loss_counts_bug
