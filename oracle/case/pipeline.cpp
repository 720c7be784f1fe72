#include "oracle/case/pipeline.hpp"

#include <algorithm>
#include <stdexcept>

#include "oracle/case/graph.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {

std::size_t stages_of(const Case& c) {
  return in_ranks(c) ? static_cast<std::size_t>(rank_number(c, "pipeline.stages")) : 1;
}
bool is_pipelined(const Case& c) { return stages_of(c) > 1; }

std::size_t chunks_of(const Case& c) {
  return is_pipelined(c) ? static_cast<std::size_t>(rank_number(c, "pipeline.chunks")) : 1;
}

const std::string& pipeline_schedule(const Case& c) { return rank_word(c, "pipeline.schedule"); }

std::vector<PipelinePart> parts_of_model(const Case& c) {
  std::vector<PipelinePart> parts{{0, c.model.layers.size()}};
  if (!is_pipelined(c)) return parts;
  for (const Decimal& first : std::get<std::vector<Decimal>>(rank_option(c, "pipeline.cut"))) {
    parts.back().end = static_cast<std::size_t>(first.to_double());
    parts.push_back({parts.back().end, c.model.layers.size()});
  }
  return parts;
}

std::size_t stage_of_part(const Case& c, std::size_t part) { return part % stages_of(c); }

std::size_t part_with(const Case& c, std::size_t layer) {
  std::size_t part = 0;
  for (const PipelinePart& each : parts_of_model(c)) {
    if (layer < each.end) return part;
    ++part;
  }
  throw std::logic_error("no part of the pipeline has layer " + std::to_string(layer));
}

std::size_t stage_with(const Case& c, std::size_t layer) { return stage_of_part(c, part_with(c, layer)); }

std::size_t stage_with_tensor(const Case& c, std::string_view name) {
  const std::string_view label = name.substr(0, name.rfind('.'));
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    if (label_of(c.model, i) == label) return stage_with(c, i);
  throw std::logic_error("no layer has '" + std::string(name) + "'");
}

std::vector<std::size_t> places_to_cut(const Model& model) {
  const Graph graph = graph_of(model);
  const auto has_in_front = [&](std::size_t first, const std::string& name) {
    const auto end = model.layers.begin() + static_cast<std::ptrdiff_t>(first);
    return !name.empty() && std::ranges::find(model.layers.begin(), end, name, &Layer::name) != end;
  };
  std::vector<std::size_t> places;
  for (std::size_t first = 1; first < model.layers.size(); ++first) {
    const auto last = static_cast<LayerInput>(first) - 1;
    bool alone = true;
    for (std::size_t i = first; i < model.layers.size(); ++i) {
      for (const LayerInput from : graph.inputs[i]) alone = alone && from >= last;
      alone = alone && !has_in_front(first, model.layers[i].tied);
    }
    if (alone && !graph.readers[first - 1].empty()) places.push_back(first);
  }
  return places;
}

bool is_summed_behind(const Case& c, std::size_t layer) {
  if (!is_pipelined(c)) return false;
  const auto parts = parts_of_model(c);
  const std::size_t part = part_with(c, layer);
  const bool ends = part + 1 < parts.size() && layer + 1 == parts[part].end;
  return ends && graph_of(c.model).readers[layer].size() > 1;
}

bool goes_back_last_first(const Case& c) { return is_pipelined(c) && rank_word(c, "pipeline.backward") == "lifo"; }

int nth_backward(const Case& c, int micro_batches, int n) {
  return goes_back_last_first(c) ? micro_batches - 1 - n : n;
}

int backward_before(const Case& c, int micro_batches, int k) {
  if (!goes_back_last_first(c)) return k - 1;
  return k + 1 < micro_batches ? k + 1 : -1;
}

}  // namespace tally
