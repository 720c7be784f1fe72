// Bugs of the pieces that ranks keep: the norm over them, what is put together of them, and a checkpoint of them.
#include <algorithm>
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/window/rank_stages.hpp"
#include "properties/diagnosis/bug.hpp"

// Bugs of the norm over ranks that share the optimizer: whose pieces it counts, and how often.
namespace tally::shards_bug {
namespace {

bool is_norm_over_ranks(const Evidence& evidence, const HeldTensor& held) {
  return shards_optimizer(evidence.c) && held.name.stage == StageName::norm && held.name.tensor == "norm";
}

// The norm of its own pieces.
namespace own_pieces {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (!is_norm_over_ranks(evidence, held)) return std::nullopt;
  std::optional<Values> part = evidence.tap(held.name.window, -1, "norm", "part");
  if (part && oracle::hands_over_squares(evidence.c))
    for (double& each : *part) each = std::sqrt(each);
  return part;
}

const RegisterBug registered{{
    .name = "norm-of-own-shard",
    .stages = {"norm"},
    .sentence = "each rank clips by the norm of its own shards only",
    .formula = "norm of g_r",
    .remedy = "sum the squares over ranks before the root (FSDP: `model.clip_grad_norm_`; DTensors: "
              "`torch.nn.utils.clip_grad_norm_`)",
    .left = left,
}};

}  // namespace own_pieces

// Every piece counts once for each rank.
namespace counted_by_all {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const oracle::NormOrder order = oracle::norm_of(evidence.c.recipe.clip);
  if (!is_norm_over_ranks(evidence, held) || order == oracle::NormOrder::largest) return std::nullopt;
  const auto ranks = static_cast<double>(ranks_of(whole_of(evidence.c)));
  return times(held.expected, order == oracle::NormOrder::two ? std::sqrt(ranks) : ranks);
}

const RegisterBug registered{{
    .name = "replicated-counted-by-every-rank",
    .stages = {"norm"},
    .sentence = "the norm over ranks counts every gradient once per rank",
    .formula = "norm of R copies of g",
    .remedy = "count gradients that every rank holds only once in the norm over ranks",
    .left = left,
}};

}  // namespace counted_by_all
}  // namespace
}  // namespace tally::shards_bug

// Bugs of what groups of ranks put together: parameters of an earlier step, sums that stay in their group.
namespace tally::gathered_bug {
namespace {

// What was put together for the first window is read ever after.
namespace stale_parameters {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.stage != StageName::all_gather || held.name.window == 0 || held.name.tensor.starts_with("in."))
    return {};
  const std::string again = parameter_in(evidence, held, "again.");
  return evidence.tap(0, 0, "all_gather", again.empty() ? held.name.tensor : again);
}

const RegisterBug registered{{
    .name = "gathered-weights-stale",
    .stages = {"all_gather"},
    .sentence = "layers read the parameters that were gathered for the first window",
    .formula = "p of w0",
    .remedy = "gather the parameters again after every step",
    .left = left,
}};

}  // namespace stale_parameters

// Groups that keep the same pieces do not add up.
namespace own_group {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const bool over_groups =
      held.name.stage == StageName::reduce && held.name.micro_batch < 0 && replicas_of(evidence.c) > 1;
  const std::string p = over_groups ? parameter_in(evidence, held, "reduced.") : "";
  if (p.empty()) return std::nullopt;
  const Tensor* own = evidence.trace.find(TapView{held.name.window, -1, "reduce", "in.buffer." + p});  // put together
  if (own == nullptr) return std::nullopt;
  Values numbers(own->elements());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = own->value(i);
  return numbers;
}

const RegisterBug registered{{
    .name = "replicas-never-meet",
    .stages = {"reduce"},
    .sentence = "gradients are not summed over the groups with the same shards: each group trains on its own rows",
    .formula = "own group's sum",
    .remedy = "sum gradients over the groups with the same shards too",
    .left = left,
}};

}  // namespace own_group
}  // namespace
}  // namespace tally::gathered_bug

// Bugs of a checkpoint that ranks of another number load: at which places its elements are read.
namespace tally::checkpoint_bug {
namespace {

/// What a tensor that is taken up is of: nothing and a parameter, or "momentum." and one.
struct Loaded {
  std::string kind, parameter;
};
std::optional<Loaded> loaded(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.stage != StageName::checkpoint || held.name.tensor.starts_with("in.")) return std::nullopt;
  std::vector<std::string> kinds{""};
  for (const StateTensor* each : state_of(evidence.c.recipe.optimizer)) kinds.push_back(each->name + ".");
  for (const std::string& kind : kinds)
    for (const std::string& p : parameters_of(evidence.c.model))
      if (held.name.tensor == kind + p) return Loaded{kind, p};
  return std::nullopt;
}

/// Parameters side by side, and how many elements long they are, with padding and without.
struct Bucket {
  std::vector<std::string> names;
  std::int64_t held = 0, padded = 0;
};

std::vector<Bucket> buckets(const Case& whole) {
  std::vector<std::string> names = parameters_of(whole.model);
  if (rank_word(whole, "buckets.order") == "reverse") names = {names.rbegin(), names.rend()};
  std::vector<Bucket> all;
  for (const std::string& p : names) {
    const PlaceInBucket place = place_in_bucket(whole, p);
    if (place.first == 0) all.emplace_back();
    all.back().names.push_back(p);
    all.back().held += static_cast<std::int64_t>(whole.tensors.at(p).elements());
    all.back().padded = place.chunk * static_cast<std::int64_t>(sharers_of(whole));
  }
  return all;
}

/// What was to be taken up of another tensor beside this one; nothing where that is not tapped.
const Values* right(const Evidence& evidence, const HeldTensor& beside, const std::string& tensor) {
  for (const HeldTensor& each : evidence.held)
    if (each.name.window == beside.name.window && each.name.stage == StageName::checkpoint &&
        each.name.tensor == tensor)
      return &each.expected;
  return nullptr;
}

// Padding that is not there is stepped over.
namespace padded_offset {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto at = loaded(evidence, held);
  if (!at) return std::nullopt;
  Values written;
  std::size_t own = 0, in_front = 0, padding = 0;
  for (const Bucket& bucket : buckets(whole_of(evidence.c))) {
    for (const std::string& p : bucket.names) {
      if (p == at->parameter) own = written.size(), in_front = padding;
      const Values* all = right(evidence, held, at->kind + p);
      if (all == nullptr) return std::nullopt;
      written.insert(written.end(), all->begin(), all->end());
    }
    padding += static_cast<std::size_t>(bucket.padded - bucket.held);
  }
  Values read(held.expected.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    const std::size_t from = own + in_front + i;
    read[i] = from < written.size() ? written[from] : 0;
  }
  return read;
}

const RegisterBug registered{{
    .name = "checkpoint-offset-after-first-bucket",
    .stages = {"checkpoint"},
    .sentence = "a checkpoint that holds no padding is read at the offsets of padded buckets",
    .formula = "element i + padding in front",
    .remedy = "read the checkpoint by offsets without padding, as it was written",
    .left = left,
}};

}  // namespace padded_offset

// The last elements of a bucket are not loaded.
namespace padding_counts {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto at = loaded(evidence, held);
  if (!at) return std::nullopt;
  const Case& whole = whole_of(evidence.c);
  const auto given = evidence.c.tensors.find(held.name.tensor);
  Values read = held.expected;
  for (const Bucket& bucket : buckets(whole)) {
    if (std::ranges::count(bucket.names, at->parameter) == 0) continue;
    const std::int64_t first = place_in_bucket(whole, at->parameter).first, end = 2 * bucket.held - bucket.padded;
    for (std::size_t i = 0; i < read.size(); ++i)
      if (first + static_cast<std::int64_t>(i) >= end)
        read[i] = given == evidence.c.tensors.end() ? 0 : given->second.value(i);
  }
  return read;
}

const RegisterBug registered{{
    .name = "padding-counted-as-loaded",
    .stages = {"checkpoint"},
    .sentence = "a bucket's padding is counted as loaded: as many of its last elements are not loaded",
    .formula = "the first elements of a bucket alone",
    .remedy = "count elements without the padding when a bucket is loaded",
    .left = left,
}};

}  // namespace padding_counts

// Ranks that have no piece are not counted.
namespace empty_pieces {

/// What a rank behind ranks without a piece reads.
void misread(const Case& whole, const std::string& p, std::size_t rank, const Values& written, Values& read) {
  const ShardPiece own = piece_of(whole, p, rank);
  std::size_t empty = 0;
  for (std::size_t r = 0; r < rank; ++r) empty += piece_of(whole, p, r).count == 0;
  const bool none = rank + empty >= sharers_of(whole);
  const ShardPiece other = none ? ShardPiece{} : piece_of(whole, p, rank + empty);
  for (std::int64_t i = 0; i < own.count && empty > 0; ++i)
    read[static_cast<std::size_t>(own.first + i)] =
        i < other.count ? written[static_cast<std::size_t>(other.first + i)] : 0;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto at = loaded(evidence, held);
  if (!at || !shards_optimizer(evidence.c)) return std::nullopt;
  const Case& whole = whole_of(evidence.c);
  const bool in_pieces = !sharded_parameter(whole, "checkpoint", held.name.tensor, -1).empty();
  Values read = held.expected;
  for (std::size_t rank = 0; rank < sharers_of(whole); ++rank)
    if (in_pieces || rank == evidence.c.rank % sharers_of(whole))
      misread(whole, at->parameter, rank, held.expected, read);
  return read;
}

const RegisterBug registered{{
    .name = "empty-shard-forgotten",
    .stages = {"checkpoint"},
    .sentence = "ranks without a shard of a parameter are not counted, and later ranks read another rank's shard",
    .formula = "piece r + ranks without one in front",
    .remedy = "count ranks without a shard too when a rank's place in the checkpoint is computed",
    .left = left,
}};

}  // namespace empty_pieces

}  // namespace
}  // namespace tally::checkpoint_bug
