// Rules of tokens: sequences, positions, targets and classes.
#include <algorithm>
#include <numeric>
#include <optional>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/rules/rules.hpp"

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

namespace {

constexpr std::size_t most_rows_reported = 8;
/// The end of positions that no table has rows for.
constexpr std::int64_t most_places = std::int64_t{1} << 40;

/// Whole numbers from 0 on, each below `end`.
void check_indices(const Case& c, const std::string& name, std::int64_t end, const std::string& what,
                   Findings& findings) {
  const auto found = c.tensors.find(name);
  if (found == c.tensors.end() || !findings.sound(tensor_path(name)) || found->second.dtype != Dtype::i64) return;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < found->second.elements() && wrong < most_rows_reported; ++i) {
    const std::int64_t value = found->second.integer(i);
    if (value >= 0 && value < end) continue;
    findings.add(element_path(tensor_path(name) + ".data", i), std::to_string(value),
                 what + " from 0 to " + std::to_string(end - 1));
    ++wrong;
  }
}

}  // namespace

void check_token_layers(const Case& c, Findings& findings) {
  if (c.model.tokens && c.model.layers.empty())
    findings.add_broken("$.model.layers", "no layers in a model over tokens", "an embedding");
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const std::string path = element_path("$.model.layers", i);
    const bool looks_up = contract_of("layer", c.model.layers[i]).reads_tokens;
    for (const LayerInput from : inputs_of(c.model, i)) {
      const bool reads_tokens = from == model_input && c.model.tokens;
      if (looks_up && !reads_tokens)
        findings.add_broken(path, c.model.layers[i].kind + " of numbers that are no tokens",
                            "the model's input, with a vocabulary: {\"vocabulary\": 11}");
      else if (looks_up && c.model.layers[i].integer("padding_index") >= c.model.input)
        findings.add(path + ".padding_index", std::to_string(c.model.layers[i].integer("padding_index")),
                     "-1 for none, or a token below " + std::to_string(c.model.input) + ", the vocabulary");
      else if (!looks_up && reads_tokens)
        findings.add_broken(path, c.model.layers[i].kind + " of tokens", "an embedding");
    }
  }
}

void check_tokens(const Case& c, Findings& findings) {
  if (c.model.tokens) check_indices(c, "tokens", c.model.input, "a token", findings);
}

void check_positions(const Case& c, Findings& findings) {
  std::optional<std::int64_t> end;
  for (const Layer& layer : c.model.layers) {
    const Contract& contract = contract_of("layer", layer);
    if (!contract.reads_positions) continue;
    const std::int64_t places = contract.table_length.empty() ? most_places : layer.integer(contract.table_length);
    end = std::min(end.value_or(places), places);
  }
  if (end) check_indices(c, "positions", *end, "a position", findings);
}

void check_targets(const Case& c, Findings& findings) {
  const auto target = c.tensors.find("target");
  if (!has_class_targets(c.model.loss) || target == c.tensors.end()) return;
  if (!findings.sound(tensor_path("target")) || target->second.dtype != Dtype::i64) return;
  const std::int64_t classes = features_before(c.model, c.model.layers.size());
  const std::int64_t ignored = c.model.loss.integer("ignore_index");
  constexpr std::size_t most_reported = 8;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < target->second.elements() && wrong < most_reported; ++i) {
    const std::int64_t value = target->second.integer(i);
    if (value == ignored || (value >= 0 && value < classes)) continue;
    findings.add(element_path(tensor_path("target") + ".data", i), std::to_string(value),
                 "a class from 0 to " + std::to_string(classes - 1) + ", or ignore_index, " + std::to_string(ignored));
    ++wrong;
  }
}

void check_class_weights(const Case& c, Findings& findings) {
  if (!c.model.loss.options.contains("weight")) return;
  const std::size_t weights = c.model.loss.numbers("weight").size();
  const std::int64_t classes = features_before(c.model, c.model.layers.size());
  if (weights != 0 && static_cast<std::int64_t>(weights) != classes)
    findings.add("$.model.loss.weight", std::to_string(weights) + " weights",
                 "one for each of the " + std::to_string(classes) + " classes");
}

}  // namespace tally
