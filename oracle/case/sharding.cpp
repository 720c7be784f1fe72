// How ranks share a model out: shards of the optimizer's state, and the stages of a pipeline.
#include "oracle/case/sharding.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sizes.hpp"
#include "oracle/graph/stage.hpp"

namespace tally {
namespace {

constexpr std::array<std::string_view, 7> stages_of_shards{"overflow_check", "unscale",   "norm",      "clip",
                                                           "decay",          "optimizer", "checkpoint"};

/// The sum of a micro-batch's gradients over the ranks, the buffer that it is added to, and the sum of replicas' buffers.
bool holds_sums(const std::string& stage, const std::string& tensor, int micro_batch) {
  return stage == StageName::accumulate ||
         (stage == StageName::reduce && (micro_batch < 0 || tensor.starts_with("reduced.")));
}

}  // namespace

std::size_t replicas_of(const Case& c) {
  return in_ranks(c) ? static_cast<std::size_t>(rank_number(c, "replicas")) : 1;
}
std::size_t sharers_of(const Case& c) { return ranks_of(whole_of(c)) / replicas_of(c); }

std::vector<std::size_t> ranks_of_sum(const Case& whole, std::size_t rank, int micro_batch) {
  const std::size_t sharers = sharers_of(whole);
  const bool of_replicas = replicas_of(whole) > 1 && micro_batch < 0;
  const std::size_t first = of_replicas ? 0 : rank / sharers * sharers, step = of_replicas ? sharers : 1;
  std::vector<std::size_t> all(of_replicas ? replicas_of(whole) : sharers);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = first + i * step;
  return all;
}

PlaceInBucket place_in_bucket(const Case& whole, const std::string& parameter) {
  const std::int64_t least = rank_number(whole, "buckets.elements"),
                     multiple = static_cast<std::int64_t>(ranks_of(whole)) * rank_number(whole, "buckets.align");
  std::vector<std::string> names = parameters_of(whole.model);
  if (is_pipelined(whole)) {  // each stage has buckets of its own
    const std::size_t stage = stage_with_tensor(whole, parameter);
    const std::vector<PipelinePart> parts = parts_of_model(whole);
    std::set<std::string, std::less<>> own;
    for (std::size_t part = stage; part < parts.size(); part += stages_of(whole))
      for (std::size_t i = parts[part].first; i < parts[part].end; ++i) own.insert(whole.model.layers[i].name);
    std::erase_if(names, [&](std::string_view name) { return !own.contains(name.substr(0, name.rfind('.'))); });
  }
  if (rank_word(whole, "buckets.order") == "reverse") names = {names.rbegin(), names.rend()};
  PlaceInBucket place;
  std::int64_t filled = 0;
  bool found = false;
  for (const std::string& name : names) {
    if (least > 0 && filled >= least) {
      if (found) break;
      filled = 0;
    }
    if (name == parameter) place.first = filled, found = true;
    filled += static_cast<std::int64_t>(whole.tensors.at(name).elements());
  }
  if (!found) throw std::logic_error("no parameter '" + parameter + "' travels");
  place.chunk = (filled + multiple - 1) / multiple * multiple / static_cast<std::int64_t>(sharers_of(whole));
  return place;
}

PlaceInBucket place_in_sum(const Case& whole, const std::string& parameter, int micro_batch) {
  PlaceInBucket place = place_in_bucket(whole, parameter);
  if (replicas_of(whole) == 1 || micro_batch >= 0) return place;
  place.within = place.chunk;
  place.chunk /= static_cast<std::int64_t>(replicas_of(whole));
  return place;
}

ShardPiece piece_of(const Case& whole, const std::string& parameter, std::size_t rank) {
  const PlaceInBucket place = place_in_bucket(whole, parameter);
  const auto elements = static_cast<std::int64_t>(whole.tensors.at(parameter).elements());
  const auto sharer = static_cast<std::int64_t>(rank % sharers_of(whole));
  const std::int64_t begin = sharer * place.chunk - place.first;
  const std::int64_t first = std::clamp<std::int64_t>(begin, 0, elements);
  return {first, std::clamp<std::int64_t>(begin + place.chunk, 0, elements) - first};
}

bool shards_optimizer(const Case& c) { return in_ranks(c) && rank_word(c, "sharding") != "none"; }
bool shards_gradients(const Case& c) {
  return in_ranks(c) && (rank_word(c, "sharding") == "gradients" || shards_parameters(c));
}
bool shards_parameters(const Case& c) { return in_ranks(c) && rank_word(c, "sharding") == "parameters"; }

std::string sharded_parameter(const Case& c, const std::string& stage, const std::string& tensor, int micro_batch) {
  if (!shards_optimizer(c)) return {};
  if (stage == StageName::checkpoint && !shards_parameters(c) && !tensor.starts_with("in.") &&
      std::ranges::count(parameters_of(c.model), tensor) > 0)
    return {};  // each begins with all of it
  const bool shard = std::ranges::find(stages_of_shards, stage) != stages_of_shards.end() ||
                     tensor.starts_with("in.shard.") ||
                     (shards_gradients(c) && holds_sums(stage, tensor, micro_batch)) ||
                     (shards_parameters(c) && stage == StageName::cast);
  if (!shard) return {};
  for (const std::string& p : parameters_of(c.model))
    if (tensor == p || tensor.ends_with("." + p)) return p;
  return {};
}

namespace {

std::vector<std::int64_t> of_pipeline(const Case& c, std::size_t (*of)(const Case&)) {
  if (!is_pipelined(c)) return {};
  return {static_cast<std::int64_t>(of(c))};
}
std::vector<std::int64_t> stages(const Case& c) { return of_pipeline(c, stages_of); }
std::vector<std::int64_t> chunks(const Case& c) { return of_pipeline(c, chunks_of); }
const Register<DeclaredSize> registered_stages{{.name = "stages of a pipeline", .least = 2, .in = stages}};
const Register<DeclaredSize> registered_chunks{{.name = "chunks of a stage", .least = 1, .in = chunks}};

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
