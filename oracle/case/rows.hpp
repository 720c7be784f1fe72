// Rows of a case: the sequences they belong to, pairs of them, what each weighs, and what a window counts to divide by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/case/contract.hpp"

namespace tally {

// Rows that belong together: the sequences of a case, one after another in the order of its rows. What a row's place in
// its sequence is, and which label a row is scored by.

/// The place of every row in its sequence, from 0 on. All 0 where the case names no sequences.
std::vector<std::int64_t> places_in_sequences(const Case& c);

/// The same as a column, i64 [rows, 1].
Tensor places_of(const Case& c);

/// The first row of the sequence of every row of a micro-batch, and the first row behind that sequence, counted in the
/// rows of the micro-batch; one after another, over all rows of the case.
struct SequenceRows {
  std::vector<std::int64_t> begin, end;
};
SequenceRows sequence_rows(const Case& c);

/// The tensor `positions`, i64 [rows]; where the case has none, the places.
Tensor positions_of(const Case& c);

/// Whether the loss scores a row by the label of the next row of its sequence.
bool shifts_labels(const Choice& loss);

/// The class that a loss over classes scores the row by, as its target says or, with `shift`, the next row's of its
/// sequence. The loss's ignore_index where there is none: behind the last row of a sequence.
std::int64_t scored_class(const Case& c, std::int64_t row);

/// What the loss reads, row by row: `target`, with `shift` the scored classes.
class ScoredTarget {
 public:
  /// Keeps a reference to the case's own target, where nothing is shifted.
  explicit ScoredTarget(const Case& c);
  const Tensor& operator*() const { return shifted_ ? *shifted_ : given_; }

 private:
  const Tensor& given_;
  std::optional<Tensor> shifted_;
};

// Pairs of rows of one sequence, which masks of attention have a number for: pair (i, j) of a sequence of `length` rows
// is number i length + j of its pairs, behind those of all sequences before it.

/// What a tensor's shape in a contract says for the rows of x, and for the pairs of all sequences.
inline constexpr std::int64_t rows_in_place = -1, pairs_in_place = -2;

/// Pairs of all sequences: the sum of the squares of their lengths.
std::int64_t pairs_of(const Case& c);

/// Pairs of the sequences that end in the rows [first, first + count) of the case.
std::int64_t pairs_of(const Case& c, std::int64_t first, std::int64_t count);

/// A tensor's shape with the rows and the pairs of the case in the places that stand for them.
std::vector<std::int64_t> shape_in(const Case& c, const LayerTensor& tensor, const Layer& layer, std::int64_t features);

/// Whether a tensor of this name is a mask of attention: [heads, pairs].
bool has_pairs(const Case& c, const std::string& tensor);

/// What the rows [first, first + count) of a case read of the mask of one of its layers, which is `mask`: these rows of
/// it, or of a mask of attention the pairs of these rows, [heads, pairs]. The rows must be whole sequences there.
Tensor mask_of_rows(const Case& c, const std::string& layer, std::int64_t first, std::int64_t count);

/// A mask of attention as kernels read it: the masks of all micro-batches, one after another, [pairs, heads] in all.
Tensor masks_by_micro_batch(const Case& c, const std::string& layer);

// The item weights of a case, read once for many rows. item_weight() (case.hpp) says what a weight is.

/// Keeps references into the case, which must last as long. A row beyond the case's tensors throws as item_weight()
/// does.
class ItemWeights {
 public:
  explicit ItemWeights(const Case& c);

  /// The weight of a row where it is a whole number that binary64 holds; else item_weight() tells it, as of a class
  /// that has a weight of its own.
  std::optional<std::int64_t> whole(std::int64_t row) const;

  /// The binary64 number nearest to the weight.
  double nearest(std::int64_t row) const;

  /// The sum over `rows` rows from `first_row` on, where all weights are whole and their sum is exact in binary64, so
  /// that adding them up in any arithmetic of 53 bits or more gives it.
  std::optional<std::int64_t> whole_sum(std::int64_t first_row, std::int64_t rows) const;

 private:
  const Case& case_;
  std::optional<ScoredTarget> classes_;  // what rows are scored by, of a loss over classes
  const Tensor* weights_ = nullptr;      // of a loss with a weight for each item
  std::int64_t ignored_ = 0;
  bool by_class_ = false;  // classes have weights of their own
};

// What a window counts to divide by: its items, where they are whole numbers that the case's own tensors say.

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
