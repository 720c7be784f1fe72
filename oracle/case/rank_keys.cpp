// The keys of `execution.ranks`, and what frameworks choose for them.
#include "oracle/case/rank_keys.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "oracle/case/ranks.hpp"

namespace tally {
namespace {

const RankKey& key_called(std::string_view name) {
  const auto found = std::ranges::find_if(rank_keys(), [&](const RankKey& key) { return key.name() == name; });
  if (found == rank_keys().end()) throw std::logic_error("execution.ranks has no key " + std::string(name));
  return *found;
}

RankKey word_key(const char* object, const char* name, std::vector<std::string> words) {
  const OptionValue first = words.front();
  return {object, {.name = name, .type = OptionType::text, .standard = first, .words = std::move(words), .since = 3}};
}

RankKey flag_key(const char* object, const char* name) {
  const OptionValue no = false;
  return {object, {.name = name, .type = OptionType::boolean, .standard = no, .since = 3}};
}

RankKey number_key(const char* object, const char* name, std::int64_t standard, const char* least) {
  return {object,
          {.name = name, .type = OptionType::integer, .standard = standard, .range = {.at_least = least}, .since = 3}};
}

/// A number that is only said where it is needed.
RankKey factor_key(const char* object, const char* name) {
  const OptionValue none = Decimal{"0"};
  return {object, {.name = name, .type = OptionType::number, .standard = none, .range = {.above = "0"}, .since = 3}};
}

/// Layers by their numbers.
RankKey places_key(const char* object, const char* name) {
  return {object,
          {.name = name,
           .type = OptionType::number_list,
           .standard = std::vector<Decimal>{},
           .range = {.at_least = "1"},
           .since = 3}};
}

}  // namespace

const std::vector<RankKey>& rank_keys() {
  static const std::vector<RankKey> all{
      word_key("", "sharding", {"none", "optimizer", "gradients", "parameters"}),
      number_key("", "replicas", 1, "1"),
      flag_key("", "offload"),
      word_key("", "communicate", {"window", "micro_batch", "running_total"}),
      word_key(
          "reduce", "algorithm",
          {"in_order", "recursive_doubling", "ring", "all_to_all", "recursive_halving", "tree", "arrival", "library"}),
      word_key("reduce", "wire", {"buffer", "fp32", "fp16", "bf16"}),
      word_key("reduce", "accumulate", {"wire", "fp32"}),
      word_key("reduce", "divide", {"loss", "before", "after", "split", "collective", "unscale"}),
      factor_key("reduce", "factor"),
      word_key("reduce", "norm", {"squares", "norms"}),
      number_key("buckets", "elements", 0, "0"),
      word_key("buckets", "order", {"model", "reverse"}),
      number_key("buckets", "align", 1, "1"),
      word_key("", "statistics", {"moments", "sums", "two_pass"}),
      number_key("", "arrival", 0, "0"),
      number_key("pipeline", "stages", 1, "1"),
      places_key("pipeline", "cut"),
      number_key("pipeline", "chunks", 1, "1"),
      word_key("pipeline", "schedule", {"gpipe", "1f1b", "interleaved"}),
      word_key("pipeline", "backward", {"fifo", "lifo"}),
  };
  return all;
}

const OptionValue& standard_rank_option(std::string_view name) { return *key_called(name).option.standard; }

const OptionValue& rank_option(const Execution& execution, std::string_view name) {
  const auto said = execution.ranks.options.find(std::string(name));
  return said != execution.ranks.options.end() ? said->second : standard_rank_option(name);
}
const OptionValue& rank_option(const Case& c, std::string_view name) { return rank_option(c.execution, name); }

const std::string& rank_word(const Execution& execution, std::string_view name) {
  return std::get<std::string>(rank_option(execution, name));
}
const std::string& rank_word(const Case& c, std::string_view name) { return rank_word(c.execution, name); }

std::int64_t rank_number(const Case& c, std::string_view name) { return std::get<std::int64_t>(rank_option(c, name)); }

bool rank_flag(const Case& c, std::string_view name) { return std::get<bool>(rank_option(c, name)); }

Dtype wire_of(const Case& c) {
  const std::string& word = rank_word(c, "reduce.wire");
  return word == "buffer" ? c.precision.accumulate : *dtype_of(word);
}

bool adds_in_fp32(const Case& c) { return rank_word(c, "reduce.accumulate") == "fp32"; }
bool keeps_partial_sums(const std::string& algorithm) { return algorithm == "in_order" || algorithm == "all_to_all"; }
bool declares_order(const std::string& algorithm) { return algorithm != "arrival" && algorithm != "library"; }

void set_rank_option(Execution& execution, const std::string& name, OptionValue value) {
  const bool standard = value == *key_called(name).option.standard;
  if (standard)
    execution.ranks.options.erase(name);
  else
    execution.ranks.options[name] = std::move(value);
  execution.ranks.kind = execution.ranks.options.empty() ? "" : "ranks";
}

Case with_rank_option(Case c, const std::string& name, OptionValue value) {
  set_rank_option(c.execution, name, std::move(value));
  if (c.dealt.empty()) c.execution.ranks.kind = "ranks";
  return c;
}

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
      {"deepspeed-scatter", "DeepSpeed, ZeRO-2: divided by the ranks, then summed after every micro-batch, pieces kept",
       "average_tensor", deepspeed_scatter},
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
