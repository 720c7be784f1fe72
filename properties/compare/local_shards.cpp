// Ranks that share the optimizer: what each finds of its own pieces, the norm over the pieces of all, and the parameters
// put together again. Every trace has the pieces of all put together (ranks_of_trace.hpp).
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "oracle/window/rank_norm.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/local_walk.hpp"
#include "properties/compare/ranks_of_trace.hpp"

namespace tally {
namespace {

/// This rank's pieces of a stage's tensors, by parameter; nothing where one of them is not all there. The tensors live
/// as long as `kept`.
std::optional<oracle::ExpectedTensors> own_pieces(const LocalWalk& walk, const std::string& stage,
                                                  const std::string& prefix, std::deque<Tensor>& kept) {
  oracle::ExpectedTensors pieces;
  for (const std::string& p : walk.parameters) {
    const Tensor* all = walk.tap(stage, prefix + p);
    if (all == nullptr) return {};
    const Tensor& own = kept.emplace_back(own_piece(walk.c, p, *all));
    if (own.elements() > 0) pieces.emplace(p, oracle::only_read(own));
  }
  return pieces;
}

void check_found(LocalWalk& walk) {
  bool found = false;
  for (const std::string& p : walk.parameters) {
    const Tensor* all = walk.tap("overflow_check", "in.buffer." + p);
    if (all == nullptr) {
      walk.require_tap("overflow_check", "found");
      return;
    }
    found = found || oracle::any_non_finite(own_piece(walk.c, p, *all));
  }
  const Tensor* decision = walk.check_output("overflow_check", "found", oracle::scalar(found ? 1 : 0));
  if (decision != nullptr && !walk.checks.empty() && walk.checks.back().status == Status::fail)
    walk.checks.back().failure = FailureClass::skip_decision;
  walk.handed("agree", "in.found", decision);
}

}  // namespace

void check_own_pieces(LocalWalk& walk) {
  if (checks_overflow(walk.c.recipe.loss_scale)) check_found(walk);
  const Tensor* found = walk.tap("agree", "found");
  const bool stepped = found == nullptr || found->integer(0) == 0;
  if (!stepped || !clips_by_norm(walk.c.recipe.clip)) return;
  std::deque<Tensor> kept;
  const auto pieces = own_pieces(walk, "norm", "in.d.", kept);
  if (!pieces)
    walk.require_tap("norm", "part");
  else
    walk.check_output("norm", "part", [&] { return oracle::norm_part(walk.declared, walk.c, *pieces); });
}

void check_norm_over_ranks(LocalWalk& walk) {
  std::vector<float> parts;
  const std::vector<std::size_t> sharers = ranks_of_sum(whole_of(walk.c), walk.c.rank, 0);
  for (const Tensor* each : of_ranks(walk, sharers, "norm", "part"))
    parts.push_back(static_cast<float>(each->value(0)));
  if (parts.empty()) {
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
