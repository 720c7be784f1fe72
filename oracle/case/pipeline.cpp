#include "oracle/case/pipeline.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "oracle/case/graph.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sizes.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

std::vector<std::int64_t> of_pipeline(const Case& c, std::size_t (*of)(const Case&)) {
  if (!is_pipelined(c)) return {};
  return {static_cast<std::int64_t>(of(c))};
}
std::vector<std::int64_t> stages(const Case& c) { return of_pipeline(c, stages_of); }
std::vector<std::int64_t> chunks(const Case& c) { return of_pipeline(c, chunks_of); }
const RegisterSize registered_stages{{.name = "stages of a pipeline", .least = 2, .in = stages}};
const RegisterSize registered_chunks{{.name = "chunks of a stage", .least = 1, .in = chunks}};

}  // namespace

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
  if (layer >= c.model.layers.size())
    throw std::logic_error("no part of the pipeline has layer " + std::to_string(layer));
  if (!is_pipelined(c)) return 0;
  const auto& cut = std::get<std::vector<Decimal>>(rank_option(c, "pipeline.cut"));
  const auto behind = std::ranges::upper_bound(cut, static_cast<double>(layer), {}, &Decimal::to_double);
  return static_cast<std::size_t>(behind - cut.begin());
}

std::size_t stage_with(const Case& c, std::size_t layer) { return stage_of_part(c, part_with(c, layer)); }

std::size_t stage_with_tensor(const Case& c, std::string_view name) {
  const std::string_view label = name.substr(0, name.rfind('.'));
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    if (c.model.layers[i].name.empty() ? label_of(c.model, i) == label : c.model.layers[i].name == label)
      return stage_with(c, i);
  throw std::logic_error("no layer has '" + std::string(name) + "'");
}

std::vector<std::size_t> places_to_cut(const Model& model) {
  const Graph graph = graph_of(model);
  const std::size_t layers = model.layers.size();
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < layers; ++i) numbers.emplace(model.layers[i].name, i);
  std::vector<std::size_t> places;
  auto first_read = static_cast<LayerInput>(layers);  // by the layers from here on
  std::size_t first_table = layers;                   // that one of them is tied to
  for (std::size_t first = layers; first-- > 1;) {
    for (const LayerInput from : graph.inputs[first]) first_read = std::min(first_read, from);
    if (const auto table = numbers.find(model.layers[first].tied); !model.layers[first].tied.empty())
      first_table = std::min(first_table, table == numbers.end() ? layers : table->second);
    const bool alone = first_read + 1 >= static_cast<LayerInput>(first) && first_table >= first;
    if (alone && !graph.readers[first - 1].empty()) places.push_back(first);
  }
  return {places.rbegin(), places.rend()};
}

bool is_summed_behind(const Case& c, std::size_t layer) {
  if (!is_pipelined(c) || layer + 1 == c.model.layers.size()) return false;
  const bool ends = part_with(c, layer) != part_with(c, layer + 1);
  return ends && readers_of(c.model, layer).size() > 1;
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
