#include "oracle/case/rank_presets.hpp"

#include <algorithm>

#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"

namespace tally {
namespace {

void set(Case& c, const char* key, const char* word) { set_rank_option(c.execution, key, std::string(word)); }

void ddp(Case& c) {
  set(c, "reduce.divide", "before");
  set(c, "buckets.order", "reverse");
}

/// A factor of about the root of the ranks: doubled while it divides them and leaves more than itself; 2 for an odd
/// number.
std::size_t predivision(std::size_t ranks) {
  std::size_t factor = 1;
  while (ranks % factor == 0 && factor * factor < ranks) factor *= 2;
  return factor;
}

/// fp16, whose range is short, is divided on both sides of the sum; where the ranks change, by what suits the most.
void fsdp2(Case& c) {
  set(c, "sharding", "parameters");
  if (most_ranks_of(c) == 1) return;
  if (wire_of(c) != Dtype::fp16) return set(c, "reduce.divide", "collective");
  set(c, "reduce.divide", "split");
  set_rank_option(c.execution, "reduce.factor", Decimal{std::to_string(predivision(most_ranks_of(c)))});
}

void deepspeed_allreduce(Case& c) { set(c, "reduce.divide", "after"); }

void deepspeed_scatter(Case& c) {
  set(c, "sharding", "gradients");
  set(c, "reduce.divide", "before");
}

void megatron(Case& c) {
  set(c, "sharding", "optimizer");
  set(c, "reduce.divide", "before");
}

void megatron_tokens(Case& c) {
  set(c, "sharding", "optimizer");
  set(c, "reduce.divide", "unscale");
}

}  // namespace

const std::vector<RankPreset>& rank_presets() {
  static const std::vector<RankPreset> all{
      {"ddp",
       "PyTorch's DistributedDataParallel: each gradient is divided by the ranks, then summed, in reversed buckets",
       "reducer.cpp, pytorch issue 36516", ddp},
      {"deepspeed-allreduce", "DeepSpeed without a shared gradient: summed, then divided by the ranks",
       "gradient_reduction_w_predivide", deepspeed_allreduce},
      {"deepspeed-scatter",
       "DeepSpeed, ZeRO-2: divided by the ranks, then summed behind every micro-batch, pieces kept", "average_tensor",
       deepspeed_scatter},
      {"fsdp2",
       "PyTorch's fully_shard: averaged by the collective, in fp16 divided on both sides of the sum; pieces kept of "
       "all",
       "_get_gradient_divide_factors", fsdp2},
      {"megatron", "Megatron-LM with its distributed optimizer: divided by the ranks, then summed",
       "param_and_grad_buffer.py", megatron},
      {"megatron-tokens", "Megatron-LM where the loss counts tokens: summed, and divided by them at the window's end",
       "finalize_model_grads.py", megatron_tokens},
  };
  return all;
}

const RankPreset* find_rank_preset(const std::string& name) {
  const auto found = std::ranges::find(rank_presets(), name, &RankPreset::name);
  return found == rank_presets().end() ? nullptr : &*found;
}

Case as_preset(Case c, const RankPreset& preset) {
  for (const char* key : {"sharding", "replicas", "communicate", "reduce.divide", "reduce.factor", "buckets.order"})
    set_rank_option(c.execution, key, standard_rank_option(key));
  preset.apply(c);
  if (c.dealt.empty()) c.execution.ranks.kind = "ranks";
  return c;
}

}  // namespace tally
