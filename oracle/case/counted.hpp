// What a window counts to divide by: its items, where they are whole numbers that the case's own tensors say.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// Whether items are counted: labels of a loss over classes that have no weights of their own, or the weights of items.
/// Other losses have one item a row, or weights that are no whole numbers. A trace has the stage `count` only then.
bool counts_items(const Choice& loss);

/// n_k of every micro-batch of a window, and their sum N. nullopt where items are not counted, or binary64 does not
/// hold a sum.
struct CountedItems {
  std::vector<std::int64_t> of_micro_batch;
  std::int64_t of_window = 0;
  friend bool operator==(const CountedItems&, const CountedItems&) = default;
};
std::optional<CountedItems> counted_items(const Case& c, std::size_t window);

/// The name of the case's tensor that is counted: "target", of the labels as the case has them, or "item_weight".
const char* counted_tensor(const Choice& loss);
/// Its rows of a micro-batch, i64 [rows].
Tensor counted_rows(const Case& c, std::size_t window, std::size_t micro_batch);

/// The lengths of the sequences of a micro-batch, i64 [sequences].
Tensor sequence_lengths(const Case& c, std::size_t window, std::size_t micro_batch);

}  // namespace tally
