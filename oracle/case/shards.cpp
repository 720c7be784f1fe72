#include "oracle/case/shards.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"

namespace tally {
namespace {

constexpr std::array<std::string_view, 6> stages_of_shards{"overflow_check", "unscale", "norm",
                                                           "clip",           "decay",   "optimizer"};

/// The sum of a micro-batch's gradients over the ranks, and the buffer that it is added to.
bool holds_sums(const std::string& stage, const std::string& tensor) {
  return stage == "accumulate" || (stage == "reduce" && tensor.starts_with("reduced."));
}

}  // namespace

PlaceInBucket place_in_bucket(const Case& whole, const std::string& parameter) {
  const std::int64_t least = rank_number(whole, "buckets.elements"),
                     multiple = static_cast<std::int64_t>(ranks_of(whole)) * rank_number(whole, "buckets.align");
  std::vector<std::string> names = parameters_of(whole.model);
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
  place.chunk = (filled + multiple - 1) / multiple * multiple / static_cast<std::int64_t>(ranks_of(whole));
  return place;
}

ShardPiece piece_of(const Case& whole, const std::string& parameter, std::size_t rank) {
  const PlaceInBucket place = place_in_bucket(whole, parameter);
  const auto elements = static_cast<std::int64_t>(whole.tensors.at(parameter).elements());
  const std::int64_t begin = static_cast<std::int64_t>(rank) * place.chunk - place.first;
  const std::int64_t first = std::clamp<std::int64_t>(begin, 0, elements);
  return {first, std::clamp<std::int64_t>(begin + place.chunk, 0, elements) - first};
}

bool shards_optimizer(const Case& c) { return in_ranks(c) && rank_word(c, "sharding") != "none"; }
bool shards_gradients(const Case& c) {
  return in_ranks(c) && (rank_word(c, "sharding") == "gradients" || shards_parameters(c));
}
bool shards_parameters(const Case& c) { return in_ranks(c) && rank_word(c, "sharding") == "parameters"; }

std::string sharded_parameter(const Case& c, const std::string& stage, const std::string& tensor) {
  if (!shards_optimizer(c)) return {};
  const bool shard = std::ranges::find(stages_of_shards, stage) != stages_of_shards.end() ||
                     tensor.starts_with("in.shard.") || (shards_gradients(c) && holds_sums(stage, tensor)) ||
                     (shards_parameters(c) && stage == "cast");
  if (!shard) return {};
  for (const std::string& p : parameters_of(c.model))
    if (tensor == p || tensor.ends_with("." + p)) return p;
  return {};
}

}  // namespace tally
