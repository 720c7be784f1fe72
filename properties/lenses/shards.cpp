// Ranks that share the optimizer: what each finds of its own pieces, the norm over the pieces of all, and the parameters
// put together again. Every trace has the pieces of all put together (ranks_of_trace.hpp).
#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/window/rank_stages.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

using oracle::Expected;

/// The parameters of a stage of a pipeline; of a model that is not cut all of them.
std::vector<std::string> parameters_on(const Walk& walk, std::size_t pipe) {
  std::vector<std::string> own = walk.parameters;
  if (is_pipelined(walk.c))
    std::erase_if(own, [&](const std::string& p) { return stage_with_tensor(walk.c, p) != pipe; });
  return own;
}

/// This rank's pieces of a stage's tensors, by parameter; nothing where one of them is not all there. The tensors live
/// as long as `kept`.
std::optional<oracle::ExpectedTensors> own_pieces(const Walk& walk, std::size_t pipe, const std::string& stage,
                                                  const std::string& prefix, std::deque<Tensor>& kept) {
  oracle::ExpectedTensors pieces;
  for (const std::string& p : parameters_on(walk, pipe)) {
    const Tensor* all = walk.tap(stage, prefix + p);
    if (all == nullptr) return {};
    const Tensor& own = kept.emplace_back(own_piece(walk.c, p, *all));
    if (own.elements() > 0) pieces.emplace(p, oracle::only_read(own));
  }
  return pieces;
}

void check_found_in(Walk& walk, std::size_t pipe) {
  std::optional<bool> found = false;
  for (const std::string& p : parameters_on(walk, pipe)) {
    const Tensor* all = walk.tap("overflow_check", "in.buffer." + p);
    if (all == nullptr)
      found.reset();
    else if (found)
      found = *found || oracle::any_non_finite(own_piece(walk.c, p, *all));
  }
  const OfStage own(walk, pipe);
  if (!found) {
    walk.require_tap("overflow_check", "found");
    return;
  }
  const Value decision = walk.output("overflow_check", "found", oracle::scalar(*found ? 1 : 0));
  if (decision.known()) walk.note_failure(FailureClass::skip_decision);
  walk.input("agree", "in.found", decision);
}

void check_part_of_norm(Walk& walk, std::size_t pipe) {
  std::deque<Tensor> kept;
  const auto pieces = own_pieces(walk, pipe, "norm", "in.d.", kept);
  const OfStage own(walk, pipe);
  if (!pieces)
    walk.require_tap("norm", "part");
  else
    walk.output("norm", "part",
                [&](const oracle::Declared& declared) { return oracle::norm_part(declared, walk.c, *pieces); });
}

/// A rank's piece of a parameter's tensor, its elements in a row.
Expected piece_of_expected(const Case& whole, const std::string& p, const Expected& all, std::size_t rank) {
  const ShardPiece piece = piece_of(whole, p, rank);
  Expected own{oracle::Matrix<long double>(piece.count, 1), oracle::Matrix<double>(piece.count, 1)};
  for (Eigen::Index i = 0; i < own.v.size(); ++i) {
    own.v.data()[i] = all.v.data()[piece.first + i];
    own.e.data()[i] = all.e.data()[piece.first + i];
  }
  return own;
}

/// What one rank finds of its pieces of a stage's parameters.
Expected part_of_norm(const oracle::Declared& declared, const Walk& walk, const std::map<std::string, Value>& gradients,
                      std::size_t rank, std::size_t stage = 0) {
  oracle::ExpectedTensors pieces;
  for (const std::string& p : parameters_on(walk, stage))
    if (Expected own = piece_of_expected(whole_of(walk.c), p, *gradients.at(p).read(), rank); own.v.size() > 0)
      pieces.emplace(p, std::move(own));
  return oracle::norm_part(declared, walk.c, pieces);
}

}  // namespace

void walk_own_pieces(Walk& walk) {
  const Tensor* found = walk.tap("agree", "found");
  const bool stepped = found == nullptr || found->integer(0) == 0;
  for (std::size_t stage = 0; stage < stages_of(walk.c); ++stage) {
    if (checks_overflow(walk.c.recipe.loss_scale)) check_found_in(walk, stage);
    if (stepped && clips_by_norm(walk.c.recipe.clip)) check_part_of_norm(walk, stage);
  }
}

void walk_norm_over_ranks(Walk& walk) {
  oracle::PartsByStage<float> parts(stages_of(walk.c));
  const std::vector<std::size_t> sharers = ranks_of_sum(whole_of(walk.c), walk.c.rank, 0);
  for (std::size_t stage = 0; stage < parts.size(); ++stage) {
    const OfStage own(walk, stage);
    for (const Tensor* each : of_ranks(walk, sharers, "norm", "part"))
      parts[stage].push_back(static_cast<float>(each->value(0)));
  }
  if (std::ranges::any_of(parts, [](const auto& ranks) { return ranks.empty(); })) {
    walk.require_tap("norm", "norm");
    return;
  }
  walk.exact_output("norm", "norm",
                    [&] {
                      const float norm = oracle::rounded_norm(walk.c, parts);
                      return oracle::Matrix<float>(oracle::Matrix<float>::Constant(1, 1, norm));
                    },
                    {});
}

void walk_all_gathered(Walk& walk) {
  if (!shards_parameters(walk.c)) return;
  for (const std::string& p : walk.parameters) {
    if (walk.passes_over("all_gather", p) && walk.cast_copy(p).known()) continue;
    const Value handed = walk.input("all_gather", "in.shard." + p, walk.cast_copy(p));
    const Value kept = handed.known() ? handed : walk.cast_copy(p);
    if (!kept.known()) continue;
    Value copy = kept;  // what is seen of it once holds of it again
    for (const char* when : {"", "again."}) {
      const Value gathered = walk.exact_output(
          "all_gather", when + p, [&] { return kept.floats(); }, [&](const oracle::Declared&) { return *copy.read(); });
      if (!walk.is_local()) copy = gathered;
    }
    walk.put_copy(p, copy);
  }
}

void walk_gathered(Walk& walk) {
  for (const std::string& p : walk.parameters) {
    Value& parameter = walk.state.parameter[p];
    const Value moved = walk.input("gather_updated", "in.shard." + p, parameter);
    if (walk.is_local() && walk.require_tap("gather_updated", p) == nullptr) {
      parameter = {};
      continue;
    }
    parameter = walk.left("gather_updated", p);
    if (!moved.known()) continue;
    parameter = walk.exact_output(
        "gather_updated", p, [&] { return moved.floats(); }, [&](const oracle::Declared&) { return *moved.read(); });
  }
}

Expected own_part_of_norm(const oracle::Declared& declared, const Walk& walk,
                          const std::map<std::string, Value>& gradients) {
  return part_of_norm(declared, walk, gradients, walk.c.rank);
}

Expected norm_over_ranks(const oracle::Declared& declared, const Walk& walk,
                         const std::map<std::string, Value>& gradients) {
  oracle::PartsByStage<Expected> parts(stages_of(walk.c));
  for (std::size_t stage = 0; stage < parts.size(); ++stage)
    for (std::size_t rank = 0; rank < sharers_of(whole_of(walk.c)); ++rank)
      parts[stage].push_back(part_of_norm(declared, walk, gradients, rank, stage));
  return oracle::norm_of_parts(declared, walk.c, parts);
}

OverflowFound overflow_of_pieces(const Walk& walk) {
  std::map<std::string, Value> pieces;
  for (const std::string& p : walk.parameters)
    pieces[p] = piece_of_expected(whole_of(walk.c), p, *walk.buffers.at(p).read(), walk.c.rank);
  return overflow_of(pieces);
}

}  // namespace tally
