#include <algorithm>
#include <numeric>

#include "oracle/case/expected_tensors.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rules.hpp"
#include "oracle/case/sequences.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

/// Who looks at other rows of its sequence, and cannot do without one.
std::string who_needs_sequences(const Case& c) {
  if (shifts_labels(c.model.loss)) return "the loss shifts its labels";
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Contract& contract = contract_of("layer", c.model.layers[i]);
    if (contract.reads_sequences) return label_of(c.model, i) + " reads the rows of its sequence";
    if (contract.reads_positions && !c.tensors.contains("positions")) return label_of(c.model, i) + " reads positions";
  }
  return "";
}

/// Every micro-batch ends with a sequence.
void check_cuts(const Case& c, Findings& findings) {
  std::size_t next = 0;
  std::int64_t end = 0, row = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    for (std::size_t k = 0; k < c.windows[w].size(); ++k) {
      row += c.windows[w][k];
      while (next < c.sequences.size() && end < row) end += c.sequences[next++];
      if (end == row) continue;
      findings.add_broken(micro_batch_path(c, w, k),
                          "an end at row " + std::to_string(row) + ", inside sequence " + std::to_string(next - 1),
                          "an end where a sequence ends");
      return;
    }
  }
}

/// A place in the longest sequence that has no row to look up.
void check_longest(const Case& c, Findings& findings) {
  if (c.tensors.contains("positions")) return;
  const std::int64_t longest = std::ranges::max(c.sequences);
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    const std::string& length = contract_of("layer", layer).table_length;
    if (length.empty() || layer.integer(length) >= longest) continue;
    findings.add_broken(element_path("$.model.layers", i) + "." + length, std::to_string(layer.integer(length)),
                        "at least " + std::to_string(longest) + ", the longest sequence");
  }
}

}  // namespace

void check_sequences(const Case& c, Findings& findings) {
  if (!findings.sound("$.sequences")) return;
  if (c.sequences.empty()) {
    if (const std::string who = who_needs_sequences(c); !who.empty())
      findings.add_broken("$.sequences", "nothing, where " + who, "the lengths of the sequences");
    return;
  }
  for (std::size_t i = 0; i < c.sequences.size(); ++i)
    if (c.sequences[i] < 1 || c.sequences[i] > rows_of(c))
      findings.add_broken(element_path("$.sequences", i), std::to_string(c.sequences[i]),
                          "a length >= 1, at most the rows");
  if (!findings.sound("$.sequences")) return;
  const std::int64_t sum = std::accumulate(c.sequences.begin(), c.sequences.end(), std::int64_t{0});
  if (sum != rows_of(c)) {
    findings.add_broken("$.sequences", std::to_string(sum) + " rows",
                        std::to_string(rows_of(c)) + ", as the windows have");
    return;
  }
  check_cuts(c, findings);
  check_longest(c, findings);
}

}  // namespace tally
