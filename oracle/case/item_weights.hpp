// The item weights of a case, read once for many rows. item_weight() (case.hpp) says what a weight is.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/case/sequences.hpp"

namespace tally {

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

}  // namespace tally
