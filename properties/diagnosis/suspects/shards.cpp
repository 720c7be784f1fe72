// Suspects of the norm over ranks that share the optimizer: whose pieces it counts, and how often.
#include "oracle/case/shards.hpp"

#include <cmath>

#include "oracle/case/ranks.hpp"
#include "oracle/window/exact_stages.hpp"
#include "oracle/window/rank_norm.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally::shards_suspect {
namespace {

bool is_norm_over_ranks(const Evidence& evidence, const HeldTensor& held) {
  return shards_optimizer(evidence.c) && held.name.stage == "norm" && held.name.tensor == "norm";
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

const RegisterSuspect registered{{
    .name = "norm-of-own-shard",
    .faults = {"norm-of-own-shard"},
    .stages = {"norm"},
    .sentence = "each rank clips by the norm of its own pieces alone",
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

const RegisterSuspect registered{{
    .name = "replicated-counted-by-every-rank",
    .faults = {"replicated-counted-by-every-rank"},
    .stages = {"norm"},
    .sentence = "the norm over ranks counts every piece once for each rank",
    .formula = "norm of R copies of g",
    .remedy = "count pieces that every rank holds once in the norm over ranks",
    .left = left,
}};

}  // namespace counted_by_all

}  // namespace
}  // namespace tally::shards_suspect
