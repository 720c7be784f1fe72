// What an element of a tap belongs to, in words.
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "kernels/trace/tap_name.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/graph/window_graph.hpp"
#include "oracle/layers/heads.hpp"
#include "properties/judge/groups.hpp"

namespace tally {
namespace {

std::string_view without_marks(std::string_view tensor) {
  for (const std::string_view mark : {"in.", "d."})
    if (tensor.starts_with(mark)) tensor.remove_prefix(mark.size());
  return tensor;
}

/// The attention that the tensor is a part of, and as what: "q", "lse".
struct PartOfAttention {
  const Layer* layer = nullptr;
  std::string part = {};
};
PartOfAttention part_of(const Model& model, std::string_view tensor) {
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::string label = label_of(model, i) + ".";
    if (model.layers[i].kind == kinds::attention && tensor.starts_with(label))
      return {&model.layers[i], std::string(tensor.substr(label.size()))};
  }
  return {};
}

/// ", head 2, feature 0", of an element in this column of so many; lse and delta have a column a head.
std::string head_at(const PartOfAttention& at, std::int64_t column, std::int64_t columns) {
  if (at.part == "lse" || at.part == "delta") return ", head " + std::to_string(column);
  const bool of_keys = at.part == "k" || at.part == "v";
  const std::int64_t size = columns / (of_keys ? key_heads_of(*at.layer) : at.layer->integer("heads"));
  return ", head " + std::to_string(column / size) + ", feature " + std::to_string(column % size);
}

/// "head 1, query 3, key 0 of sequence 2", of an element of a mask.
std::string pair_at(const Case& c, const TapName& tap, std::int64_t head, std::int64_t pair) {
  const auto window = static_cast<std::size_t>(tap.window), k = static_cast<std::size_t>(tap.micro_batch);
  std::int64_t row = 0, first = first_row(c, window, k), number = 0;
  for (const std::int64_t length : c.sequences) {
    if (row >= first && pair < length * length)
      return "head " + std::to_string(head) + ", query " + std::to_string(pair / length) + ", key " +
             std::to_string(pair % length) + " of sequence " + std::to_string(number);
    if (row >= first) pair -= length * length, ++number;
    row += length;
  }
  return "";
}

/// What an element of a model over tokens belongs to.
std::string place_in_sequence(const Case& c, const TapName& tap, const std::vector<std::int64_t>& index) {
  if (c.sequences.empty() || tap.micro_batch < 0 || index.empty()) return "";
  const WindowGraph graph(c);
  const Port* const port = graph.port(tap.stage, false, tap.tensor);
  if (port == nullptr || index.size() != port->shape.size()) return "";
  if (port->shape.back() == pairs_in_place) return pair_at(c, tap, index[0], index[1]);
  if (port->shape.front() != rows_in_place) return "";
  const auto window = static_cast<std::size_t>(tap.window), k = static_cast<std::size_t>(tap.micro_batch);
  const std::vector<std::int64_t> places = places_in_sequences(c);
  const auto first = static_cast<std::size_t>(first_row(c, window, k)),
             row = first + static_cast<std::size_t>(index[0]);
  const auto begins = std::count(places.begin() + static_cast<std::ptrdiff_t>(first),
                                 places.begin() + static_cast<std::ptrdiff_t>(row) + 1, 0);
  const PartOfAttention at = part_of(c.model, without_marks(tap.tensor));
  const char* const what = at.layer == nullptr ? "row" : at.part == "k" || at.part == "v" ? "key" : "query";
  std::string text = what + (" " + std::to_string(places[row])) + " of sequence " + std::to_string(begins - 1);
  if (at.layer != nullptr && index.size() == 2) text += head_at(at, index[1], port->shape[1]);
  return text;
}

}  // namespace

std::string named_place(const Case& c, const TapName& tap, const std::vector<std::int64_t>& index) {
  const std::string stage = is_pipelined(c) ? "stage " + std::to_string(stage_of_tap(c, tap)) + " of the pipeline" : "";
  const std::string place = place_in_sequence(c, tap, index);
  return stage + (stage.empty() || place.empty() ? "" : ", ") + place;
}

void name_places(const Case& c, std::vector<TensorCheck>& checks) {
  std::map<std::size_t, Case> generations;            // a part refers to its own
  std::map<std::pair<std::size_t, int>, Case> parts;  // by generation and rank
  for (TensorCheck& check : checks) {
    const auto name = tap_view_of(check.tap);
    if (check.status != Status::fail || check.lens == "relation" || !name) continue;
    const TapName tap = tap_name_of(check.tap);
    if (tap.rank < 0) {
      check.place = named_place(c, tap, check.worst_index);
      continue;
    }
    const std::size_t generation = generation_with(c, static_cast<std::size_t>(tap.window));
    const auto [part, fresh] = parts.try_emplace({generation, tap.rank});
    if (fresh) {
      const Case& whole = generations.try_emplace(generation, generation_of(c, generation)).first->second;
      part->second = part_of(whole, static_cast<std::size_t>(tap.rank));
    }
    check.place = named_place(part->second, of_rank(tap, -1), check.worst_index);
  }
}

}  // namespace tally
