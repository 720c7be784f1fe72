#include "kernels/trace/message_layout.hpp"

#include "oracle/case/graph.hpp"
#include "oracle/case/pipeline.hpp"

namespace tally::taps {

Layout message_tap(const Place& at, int pipe, bool sent) {
  const auto tap = layer_tap(at);
  if (at.whole_window || !tap || !is_pipelined(at.c) || at.input != sent) return std::nullopt;
  const std::size_t part = part_with(at.c, tap->layer), own = stage_of_part(at.c, part);
  const auto parts = parts_of_model(at.c);
  const bool begins = part > 0 && tap->layer == parts[part].first;
  const bool ends = part + 1 < parts.size() && tap->layer + 1 == parts[part].end;
  const Graph graph = graph_of(at.c.model);
  const bool of_output = tap->tensor == "y";  // else of what the part reads
  const bool summed = sent && at.gradient && of_output;
  if (!(of_output ? ends : begins) || (!summed && of_output != (sent != at.gradient))) return std::nullopt;
  const std::string read = input_word(at.c.model.layers[tap->layer], graph.inputs[tap->layer].size(), 0);
  if (!of_output && tap->tensor != read) return std::nullopt;
  const std::size_t left = of_output ? tap->layer : tap->layer - 1;
  if (at.gradient && (!graph.reached[left] || (sent && of_output != is_summed_behind(at.c, left)))) return std::nullopt;
  const std::size_t stage = summed ? stage_of_part(at.c, part + 1) : own;
  if (stage != static_cast<std::size_t>(pipe)) return std::nullopt;
  return TapLayout{at.c.precision.storage, {at.rows, features_after(at.c.model, left)}};
}

}  // namespace tally::taps
