// Rows that belong together: the sequences of a case, one after another in the order of its rows. What a row's place in
// its sequence is, and which label a row is scored by.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

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

}  // namespace tally
