#include "properties/faults/tokens/rows_of_padding.hpp"

#include "oracle/case/kinds.hpp"
#include "oracle/case/sequences.hpp"

namespace tally {

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
