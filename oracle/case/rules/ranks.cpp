// Rules of ranks that train together.
#include "oracle/case/ranks.hpp"

#include <algorithm>
#include <cmath>

#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/rules/rules.hpp"
#include "oracle/case/sharding.hpp"

namespace tally {
namespace {

std::string counted_ranks(std::size_t ranks) { return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"); }

/// Some window has several ranks, and every micro-batch has one.
void check_dealt(const Case& c, Findings& findings) {
  if (c.dealt.empty()) return;
  if (most_ranks_of(c) < 2)
    findings.add_broken("$.windows[0]", counted_ranks(c.dealt.front().size()),
                        "2 to " + std::to_string(most_ranks) + " lists of sizes, or the sizes of one rank");
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string path = element_path("$.windows", w);
    const std::size_t here = w < c.dealt.size() ? c.dealt[w].size() : 0;
    if (here < 1 || here > most_ranks)
      findings.add_broken(path, counted_ranks(here),
                          "1 to " + std::to_string(most_ranks) + " lists of sizes, one a rank");
    std::int64_t all = 0;
    for (std::size_t r = 0; r < here; ++r) all += c.dealt[w][r];
    if (here > 0 && all != static_cast<std::int64_t>(c.windows[w].size()))
      findings.add_broken(path, std::to_string(all) + " micro-batches dealt", std::to_string(c.windows[w].size()));
  }
}

/// What is not stated where the number of ranks changes from one window to the next.
void check_changing(const Case& c, Findings& findings) {
  if (!is_elastic(c)) return;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    const std::string path = element_path("$.model.layers", i);
    if (says_running(layer))
      findings.add(path + ".running", "\"each\" where the number of ranks changes: a new rank has no running values",
                   "\"first_rank\"");
    if (layer.kind == kinds::opaque)
      findings.add(path, "an opaque layer where the number of ranks changes", "as many ranks in every window");
  }
}

/// A constant that is 0 or infinite as a float leaves no gradient.
void check_factor(const Case& c, Findings& findings) {
  const Decimal& factor = std::get<Decimal>(c.execution.ranks.options.at("reduce.factor"));
  const auto usable = [](double constant) {
    const auto rounded = static_cast<float>(constant);
    return std::isfinite(rounded) && rounded > 0;
  };
  bool all = usable(1 / factor.to_double());
  for (const Generation& each : generations_of(c))
    all = all && usable(factor.to_double() / static_cast<double>(each.ranks));
  if (!all)
    findings.add("$.execution.ranks.reduce.factor", factor.text,
                 "a number whose reciprocal, and whose part of each rank, are neither 0 nor infinite in fp32");
}

/// How a sum is divided goes with the mean that the case states, and with when it is made.
void check_divided(const Case& c, Findings& findings) {
  const std::string& divide = rank_word(c, "reduce.divide");
  const bool has_factor = c.execution.ranks.options.contains("reduce.factor");
  const bool means = c.normalisation == Normalisation::mean_of_means || c.normalisation == Normalisation::rank_means;
  if (divide == "split" && !has_factor)
    findings.add("$.execution.ranks.reduce.factor", "nothing", "a number > 0, by which \"split\" divides in front");
  if (divide == "split" && has_factor) check_factor(c, findings);
  if (divide != "split" && has_factor)
    findings.add("$.execution.ranks.reduce.factor", "a factor beside \"divide\": " + json_string(divide),
                 "none, or \"divide\": \"split\"");
  if (divide == "unscale" && means)
    findings.add("$.execution.ranks.reduce.divide", "\"unscale\" beside means of several parts",
                 "another division, or the normalisation window_items or sum");
  if (communicate_of(c) == Communicate::running_total && (divide == "loss" || divide == "unscale"))
    findings.add("$.execution.ranks.communicate", "\"running_total\" beside \"divide\": " + json_string(divide),
                 "a division around the sum (before, after, split or collective), without which every sum multiplies "
                 "the total by the ranks");
}

/// What is added up behind every micro-batch has to stand by itself.
void check_communicated(const Case& c, Findings& findings) {
  const auto kernel = [&c](const char* operation) {
    const auto found = c.execution.kernels.find(operation);
    return found == c.execution.kernels.end() ? std::string() : found->second;
  };
  const std::string path = "$.execution.ranks.communicate";
  const bool totals = rank_word(c, "communicate") == "running_total", shards = shards_gradients(c);
  if (communicate_of(c) == Communicate::micro_batch && kernel("linear.weight_gradient") == "into_buffer")
    findings.add(shards ? "$.execution.ranks.sharding" : path,
                 json_string(shards ? rank_word(c, "sharding") : "micro_batch") +
                     " beside products that are added to the buffer",
                 std::string(shards ? "\"optimizer\"" : "\"window\"") +
                     ", or \"linear.weight_gradient\": \"separate\" in $.execution.kernels");
  if (totals && rank_word(c, "sharding") != "none")
    findings.add(path, "\"running_total\" beside \"sharding\": " + json_string(rank_word(c, "sharding")),
                 "\"window\" or \"micro_batch\"");
  if (communicate_of(c) == Communicate::running_total && kernel("accumulate") == "kahan")
    findings.add(path, "\"running_total\" beside compensated sums, whose compensation is each rank's own",
                 "\"window\" or \"micro_batch\"");
}

/// No rank's piece of a tensor has what the step reads of all of it.
void check_shared_step(const Case& c, Findings& findings) {
  if (!shards_optimizer(c) || !findings.sound("$.recipe.optimizer") || !reads_whole_tensors(c.recipe.optimizer)) return;
  findings.add("$.execution.ranks.sharding",
               json_string(rank_word(c, "sharding")) + " beside the optimizer " + json_string(c.recipe.optimizer.kind) +
                   ", whose step reads whole tensors",
               "\"none\"");
}

/// In which format partial sums stand.
void check_accumulated(const Case& c, Findings& findings) {
  if (!adds_in_fp32(c)) return;
  const std::string path = "$.execution.ranks.reduce.accumulate", &algorithm = rank_word(c, "reduce.algorithm");
  if (wire_of(c) == Dtype::fp32) findings.add(path, "\"fp32\" beside a wire of fp32", "\"wire\", which is the same");
  if (!keeps_partial_sums(algorithm))
    findings.add(path, "\"fp32\" beside \"algorithm\": " + json_string(algorithm) + ", whose partial sums travel",
                 "\"wire\", or the algorithm in_order or all_to_all");
}

/// Groups of ranks that each keep all pieces.
void check_replicas(const Case& c, Findings& findings) {
  const std::int64_t replicas = rank_number(c, "replicas");
  const std::string path = "$.execution.ranks.replicas";
  if (replicas == 1) return;
  for (const Generation& each : generations_of(c))
    if (static_cast<std::int64_t>(each.ranks) % replicas != 0)
      findings.add(path,
                   std::to_string(replicas) + " beside " + counted_ranks(each.ranks) +
                       (is_elastic(c) ? " in " + element_path("$.windows", each.first) : ""),
                   "a number that divides the ranks");
  if (!shards_gradients(c))
    findings.add(path, "replicas beside \"sharding\": " + json_string(rank_word(c, "sharding")),
                 "\"gradients\" or \"parameters\", whose sums of a group are added over the replicas");
  if (rank_word(c, "reduce.divide") == "split")
    findings.add("$.execution.ranks.reduce.divide", "\"split\" beside replicas, whose two sums each divide",
                 "loss, before, after, collective or unscale");
}

/// What is not stated of many ranks.
void check_together(const Case& c, Findings& findings) {
  if (c.normalisation == Normalisation::mean_of_means_configured && !c.dealt.empty())
    findings.add("$.normalisation", "\"mean_of_means_configured\" beside ranks",
                 "window_items, mean_of_means, rank_means or sum");
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    const std::string path = element_path("$.model.layers", i);
    if (layer.kind == kinds::batch_norm && layer.text("statistics") == "window")
      findings.add(path + ".statistics", "\"window\" beside ranks",
                   is_pipelined(c) ? "\"micro_batch\" or \"frozen\"" : "\"micro_batch\", \"micro_step\" or \"frozen\"");
  }
}

/// What ranks hand over for statistics that they put together needs a layer that takes such.
void check_step_statistics(const Case& c, Findings& findings) {
  if (c.execution.ranks.options.contains("statistics") && !pools_steps(c))
    findings.add("$.execution.ranks.statistics",
                 json_string(rank_word(c, "statistics")) + " without a batch_norm of \"micro_step\" statistics",
                 "no \"statistics\", or such a layer");
}

/// Statistics of a micro-step need two rows of all ranks together, not of each.
void check_step_rows(const Case& c, Findings& findings) {
  if (std::ranges::none_of(c.model.layers, takes_step_statistics)) return;
  for (std::size_t w = 0; w < c.windows.size(); ++w)
    for (std::size_t k = 0; k < micro_steps_of(c, w); ++k)
      if (rows_of_step(c, w, k) < 2)
        findings.add(c.dealt.empty() ? micro_batch_path(c, w, k) : element_path("$.windows", w),
                     "micro-step " + std::to_string(k) + " of one row under \"micro_step\" statistics",
                     "at least 2 rows, of all ranks together");
}

/// Whose running values count is a question of several ranks that move them.
void check_running(const Case& c, Findings& findings) {
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    if (layer.kind != kinds::batch_norm || !says_running(layer)) continue;
    const bool moves = layer.text("statistics") == "micro_batch";
    if (!moves || most_ranks_of(whole_of(c)) == 1)
      findings.add(element_path("$.model.layers", i) + ".running",
                   json_string(layer.text("running")) +
                       (moves ? " of one rank" : " beside " + json_string(layer.text("statistics")) + " statistics"),
                   "no \"running\", or several ranks and \"micro_batch\" statistics");
  }
}

/// Every rank holds the model, and a bucket is padded to a multiple of the ranks: both are bounded before memory is taken.
void check_room(const Case& c, Findings& findings) {
  const std::size_t ranks = most_ranks_of(c);
  std::size_t elements = 0;
  for (const std::string& p : weights_of(c.model))
    if (const auto found = c.tensors.find(p); found != c.tensors.end()) elements += found->second.elements();
  if (elements > most_elements / ranks)
    findings.add_broken("$.windows[0]", std::to_string(ranks) + " ranks of " + std::to_string(elements) + " parameters",
                        "at most " + std::to_string(most_elements) + " on all ranks together");
  const std::size_t most_align = std::max<std::size_t>(1, most_token_elements / (ranks * ranks));
  if (const std::int64_t align = rank_number(c, "buckets.align"); align > static_cast<std::int64_t>(most_align))
    findings.add("$.execution.ranks.buckets.align", std::to_string(align),
                 "at most " + std::to_string(most_align) + " for as many ranks");
}

}  // namespace

/// Ranks: how the micro-batches are dealt, and what they are told.
void check_ranks(const Case& c, Findings& findings) {
  check_dealt(c, findings);
  for (const RankKey& key : rank_keys()) {
    const auto said = c.execution.ranks.options.find(key.name());
    if (said != c.execution.ranks.options.end())
      check_option(key.option, said->second, "$.execution.ranks." + key.name(), findings);
  }
  check_running(c, findings);
  if (findings.sound("$.windows")) check_step_rows(c, findings);
  if (in_ranks(c) && findings.sound("$.windows") && findings.sound("$.execution.ranks")) {
    check_together(c, findings);
    check_changing(c, findings);
    check_step_statistics(c, findings);
    check_divided(c, findings);
    check_replicas(c, findings);
    check_accumulated(c, findings);
    check_shared_step(c, findings);
    check_communicated(c, findings);
    check_pipeline(c, findings);
    check_room(c, findings);
  }
}

}  // namespace tally
