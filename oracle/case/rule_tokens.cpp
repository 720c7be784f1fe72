#include <algorithm>
#include <optional>

#include "oracle/case/graph.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rules.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
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
    findings.add_broken("$.model.layers", "no layer, of a model over tokens", "an embedding, which looks tokens up");
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const std::string path = element_path("$.model.layers", i);
    const bool looks_up = contract_of("layer", c.model.layers[i]).reads_tokens;
    for (const LayerInput from : inputs_of(c.model, i)) {
      const bool reads_tokens = from == model_input && c.model.tokens;
      if (looks_up && !reads_tokens)
        findings.add_broken(path, c.model.layers[i].kind + " of numbers that are no tokens",
                            "the model's input, and of it a vocabulary: {\"vocabulary\": 11}");
      else if (looks_up && c.model.layers[i].integer("padding_index") >= c.model.input)
        findings.add(path + ".padding_index", std::to_string(c.model.layers[i].integer("padding_index")),
                     "-1, which is none, or a token below " + std::to_string(c.model.input) + ", the vocabulary");
      else if (!looks_up && reads_tokens)
        findings.add_broken(path, c.model.layers[i].kind + " of tokens", "an embedding, which looks tokens up");
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

}  // namespace tally
