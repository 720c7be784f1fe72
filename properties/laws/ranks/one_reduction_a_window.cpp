// Law: ranks that add up once a window send as many bytes for it as their algorithm needs for one sum, however many
// micro-batches they have; ranks that share the optimizer hand over their pieces once, and none of a window that was
// skipped, ranks that share the parameters twice for every micro-batch; the first rank its running values, once.
//   What no_sync saves is this, and nothing else: numbers are the same without it.
#include <algorithm>
#include <bit>
#include <optional>

#include "oracle/case/generations.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/running_values.hpp"
#include "oracle/case/shards.hpp"
#include "properties/laws/ranks/bytes_sent.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::one_reduction_a_window_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 2);
  dealt_to_ranks_by_any_normalisation(plan);
}

/// Elements that all buckets hold together, padding included: a bucket begins with a parameter whose place is 0.
std::uint64_t elements_of_buckets(const Case& c) {
  std::int64_t all = 0;
  for (const std::string& p : parameters_of(c.model))
    if (const PlaceInBucket place = place_in_bucket(c, p); place.first == 0)
      all += place.chunk * static_cast<std::int64_t>(sharers_of(c));
  return static_cast<std::uint64_t>(all);
}

std::uint64_t sent_by_halving(bool scatters, std::uint64_t rank, std::uint64_t ranks) {
  const std::uint64_t power = std::bit_floor(ranks), too_many = ranks - power;
  if (rank < 2 * too_many && rank % 2 == 0) return ranks;
  // All chunks but those that a rank keeps leave it once, and its own come back to each whose they are not.
  const bool folded = rank < 2 * too_many;
  const std::uint64_t kept = folded ? 2 : 1, number = folded ? rank / 2 : rank - too_many;
  std::uint64_t handed_back = 0;
  for (std::uint64_t block = 1; block < power; block *= 2) {
    const std::uint64_t begin = number / block * block, end = begin + block;
    handed_back += block + std::min(end, too_many) - std::min(begin, too_many);
  }
  return ranks - kept + (scatters ? 0 : handed_back) + (!folded ? 0 : scatters ? 1 : ranks);
}

std::uint64_t sent_in_a_tree(std::uint64_t rank, std::uint64_t ranks) {
  const std::uint64_t children = std::min<std::uint64_t>(2, ranks - std::min(ranks, 2 * rank + 1));
  return (children + (rank > 0 ? 1 : 0)) * ranks;
}

/// How many times its bucket a rank sends in one sum over R ranks, times R; where each keeps its chunk alone, the last
/// half of a ring falls away, and the first rank of a sum in order hands out chunks.
std::uint64_t shares_sent(const std::string& algorithm, bool scatters, std::uint64_t rank, std::uint64_t ranks) {
  if (algorithm == "ring" || algorithm == "all_to_all") return (scatters ? 1 : 2) * (ranks - 1);
  if (algorithm == "in_order" || !declares_order(algorithm))
    return rank == 0 ? (ranks - 1) * (scatters ? 1 : ranks) : ranks;
  if (algorithm == "recursive_halving") return sent_by_halving(scatters, rank, ranks);
  if (algorithm == "tree") return sent_in_a_tree(rank, ranks);
  const std::uint64_t power = std::bit_floor(ranks), too_many = ranks - power;
  const auto steps = static_cast<std::uint64_t>(std::countr_zero(power));
  if (rank >= 2 * too_many) return steps * ranks;
  return rank % 2 == 0 ? ranks : (steps + 1) * ranks;
}

std::uint64_t expected_sums(const Case& c, std::size_t window, std::size_t rank) {
  const std::size_t sums = communicates_each(c) ? micro_steps_of(c, window) : 1;
  const std::string& algorithm = rank_word(c, "reduce.algorithm");
  const std::uint64_t share = elements_of_buckets(c) * size_of(wire_of(c)) / sharers_of(c);  // a sharer's chunks
  const std::uint64_t behind_each =
      sums * share * shares_sent(algorithm, shards_gradients(c), rank % sharers_of(c), sharers_of(c));
  if (replicas_of(c) == 1) return behind_each;
  return behind_each + share / replicas_of(c) * shares_sent(algorithm, false, rank / sharers_of(c), replicas_of(c));
}

/// What a rank hands to all others of its own pieces, in elements.
std::uint64_t own_pieces_sent(const Case& c, std::size_t rank) {
  std::uint64_t own = 0;
  for (const std::string& p : parameters_of(c.model)) own += static_cast<std::uint64_t>(piece_of(c, p, rank).count);
  return own * (sharers_of(c) - 1);
}

std::uint64_t expected_gathering(const Case& c, const Trace& trace, int window, std::size_t rank) {
  const Tensor* found = trace.find(TapView{window, -1, "agree", "found", static_cast<int>(rank)});
  if (!shards_optimizer(c) || shards_parameters(c) || (found != nullptr && found->integer(0) != 0)) return 0;
  return own_pieces_sent(c, rank) * size_of(c.precision.master);
}

/// Before forward and before backward of every micro-batch.
std::uint64_t expected_parameters(const Case& c, std::size_t window, std::size_t rank) {
  if (!shards_parameters(c)) return 0;
  return 2 * micro_steps_of(c, window) * own_pieces_sent(c, rank) * size_of(c.precision.storage);
}

/// The bytes that the first rank sends of its running values, to every other.
std::uint64_t expected_running(const Case& c, std::size_t rank) {
  std::uint64_t own = 0;
  for (const Layer& layer : c.model.layers)
    if (rank == 0 && takes_first_running(c, layer)) own += 2 * c.tensors.at(layer.name + ".running_mean").elements();
  return own * (ranks_of(c) - 1) * size_of(c.precision.master);
}

void hold(Outcome& outcome, std::uint64_t found, std::uint64_t expected, const std::string& stage, std::size_t rank,
          int window) {
  require(outcome, found == expected, "w" + std::to_string(window) + "/" + stage, stage,
          "rank " + std::to_string(rank) + " sends " + std::to_string(found) + " bytes in window " +
              std::to_string(window) + " where its design takes " + std::to_string(expected));
}

Outcome holds(const Case& whole, const RunOptions& subject) {
  if (!has_ranks(whole)) return not_for(needs_ranks);
  CheckedRun first = run_and_check(whole, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  const TrafficScope scope;
  run(whole, subject);
  if (scope.ranks().empty()) return not_for("ranks of this process, whose messages are counted");
  std::optional<Case> generation;
  for (int window = 0; window < static_cast<int>(whole.windows.size()); ++window) {
    const auto at = static_cast<std::size_t>(window);
    if (!generation || !trains_window(*generation, at)) generation = generation_of(whole, generation_with(whole, at));
    const Case& c = *generation;
    for (std::size_t rank = 0; rank < ranks_of(c); ++rank) {
      const auto sent = [&](const char* stage) {  // by all stages of its model
        std::uint64_t bytes = 0;
        for (std::size_t i = 0; i < stages_of(c); ++i)
          bytes += bytes_sent(scope, rank * stages_of(c) + i, window, stage);
        return bytes;
      };
      hold(first.outcome, sent("reduce"), expected_sums(c, static_cast<std::size_t>(window), rank), "reduce", rank,
           window);
      hold(first.outcome, sent("gather_updated"), expected_gathering(c, first.trace, window, rank), "gather_updated",
           rank, window);
      hold(first.outcome, sent("all_gather"), expected_parameters(c, static_cast<std::size_t>(window), rank),
           "all_gather", rank, window);
      hold(first.outcome, sent("broadcast"), expected_running(c, rank), "running_stats", rank, window);
    }
  }
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return all_bytes_sent(c, subject) !=
         all_bytes_sent(with_rank_option(c, "buckets.align", std::int64_t{1000}), subject);
}

const RegisterLaw registered{{
    .name = "one_reduction_a_window",
    .family = "ranks",
    .statement = "Ranks send as many bytes as their sums take: once a window, or once for each micro-batch.",
    .shape = shape,
    .holds = holds,
    .control = "buckets padded further take more bytes",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::one_reduction_a_window_law
