// Ranks that share the optimizer: what each finds of its own pieces, the norm over the pieces of all, and the parameters
// put together again. Every trace has the pieces of all put together (ranks_of_trace.hpp).
#include <algorithm>

#include "oracle/case/kinds.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "oracle/window/rank_norm.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/local_walk.hpp"
#include "properties/compare/of_stage.hpp"
#include "properties/compare/ranks_of_trace.hpp"

namespace tally {
namespace {

/// The parameters of a stage of a pipeline; of a model that is not cut all of them.
std::vector<std::string> parameters_on(const LocalWalk& walk, std::size_t pipe) {
  std::vector<std::string> own = walk.parameters;
  if (is_pipelined(walk.c))
    std::erase_if(own, [&](const std::string& p) { return stage_with_tensor(walk.c, p) != pipe; });
  return own;
}

/// This rank's pieces of a stage's tensors, by parameter; nothing where one of them is not all there. The tensors live
/// as long as `kept`.
std::optional<oracle::ExpectedTensors> own_pieces(const LocalWalk& walk, std::size_t pipe, const std::string& stage,
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

void check_found_in(LocalWalk& walk, std::size_t pipe) {
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
  const Tensor* decision = walk.check_output("overflow_check", "found", oracle::scalar(*found ? 1 : 0));
  if (decision != nullptr && !walk.checks.empty() && walk.checks.back().status == Status::fail)
    walk.checks.back().failure = FailureClass::skip_decision;
  walk.handed("agree", "in.found", decision);
}

void check_part_of_norm(LocalWalk& walk, std::size_t pipe) {
  std::deque<Tensor> kept;
  const auto pieces = own_pieces(walk, pipe, "norm", "in.d.", kept);
  const OfStage own(walk, pipe);
  if (!pieces)
    walk.require_tap("norm", "part");
  else
    walk.check_output("norm", "part", [&] { return oracle::norm_part(walk.declared, walk.c, *pieces); });
}

}  // namespace

void check_own_pieces(LocalWalk& walk) {
  const Tensor* found = walk.tap("agree", "found");
  const bool stepped = found == nullptr || found->integer(0) == 0;
  for (std::size_t stage = 0; stage < stages_of(walk.c); ++stage) {
    if (checks_overflow(walk.c.recipe.loss_scale)) check_found_in(walk, stage);
    if (stepped && clips_by_norm(walk.c.recipe.clip)) check_part_of_norm(walk, stage);
  }
}

void check_norm_over_ranks(LocalWalk& walk) {
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
  walk.check_bits("norm", "norm", [&] {
    return oracle::Matrix<float>(oracle::Matrix<float>::Constant(1, 1, oracle::rounded_norm(walk.c, parts)));
  });
}

void check_all_gathered(LocalWalk& walk) {
  if (!shards_parameters(walk.c)) return;
  for (const std::string& p : walk.parameters) {
    if (walk.passes_over("all_gather", p) && walk.cast_copy(p) != nullptr) continue;
    const Tensor* handed = walk.handed("all_gather", "in.shard." + p, walk.cast_copy(p));
    const Tensor* kept = handed != nullptr ? handed : walk.cast_copy(p);
    if (kept == nullptr) continue;
    for (const char* when : {"", "again."})
      walk.check_bits("all_gather", when + p, [&] { return oracle::floats_of(*kept); });
  }
}

void check_gathered(LocalWalk& walk) {
  for (const std::string& p : walk.parameters) {
    const Tensor* moved = walk.handed("gather_updated", "in.shard." + p, walk.tap("optimizer", p));
    const Tensor* gathered = walk.require_tap("gather_updated", p);
    walk.state.parameter[p] = gathered;
    if (moved == nullptr || gathered == nullptr) continue;
    walk.check_bits("gather_updated", p, [&] { return oracle::floats_of(*moved); });
  }
}

}  // namespace tally
