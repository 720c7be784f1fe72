// A case whose batch has other rows: some of its own, or those that padding adds.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

// Some rows of a case's batch, as a part of it has them.

/// Neighbouring rows of a case.
struct Rows {
  std::int64_t first, count;
};

/// Leaves of every tensor of `part` that has rows those of `whole`, one stretch behind another, and their sequences.
void keep_rows(const Case& whole, const std::vector<Rows>& rows, Case& part);

// A padded batch, as a case: every sequence stands in a line as long as its micro-batch's longest, and what is left of a
// line holds tokens that nobody scores. Such a row is a sequence by itself with an ignored label: it reads no other row,
// no row reads it, and its gradient is exactly 0. So the padded case has the gradients of the case that was padded
// (collators of Hugging Face's transformers pad so, with -100 for a label).

enum class PaddedSide { left, right };

struct Padding {
  PaddedSide side = PaddedSide::right;
  std::int64_t multiple = 1;  // a line's length is rounded up to one of it
  std::int64_t token = 0;
};

struct PaddedCase {
  Case c;
  std::vector<bool> padding;  // of every row of `c`, whether it is padding
};

/// Throws std::invalid_argument for a case that is not over tokens, whose loss has no ignored label, or for another
/// token than those of the vocabulary.
PaddedCase padded(const Case& c, const Padding& padding);

/// The same case with a micro-batch for every sequence, which are then computed alone.
Case with_sequences_alone(const Case& c);

}  // namespace tally
