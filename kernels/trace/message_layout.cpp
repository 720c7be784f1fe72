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
  const bool of_output = sent != at.gradient;  // an output is sent, and its gradient comes back
  const std::string wanted = of_output ? "y" : input_word(at.c.model.layers[tap->layer], 1, 0);
  if (own != static_cast<std::size_t>(pipe) || tap->tensor != wanted || !(of_output ? ends : begins))
    return std::nullopt;
  if (at.gradient && !graph_of(at.c.model).reached[of_output ? tap->layer : tap->layer - 1]) return std::nullopt;
  const std::int64_t features =
      of_output ? features_after(at.c.model, tap->layer) : features_before(at.c.model, tap->layer);
  return TapLayout{at.c.precision.storage, {at.rows, features}};
}

}  // namespace tally::taps
