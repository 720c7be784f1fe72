#include "properties/generators/plan.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/random_plan.hpp"

namespace tally {

std::vector<Layer> earlier_layers(const Plan& plan) {
  std::vector<Layer> layers;
  if (plan.tokens.width > 0) layers.push_back(layer("embedding", "wte", {{"width", plan.tokens.width}}));
  if (plan.tokens.width > 0 && plan.tokens.positions)
    layers.push_back(layer("position_embedding", "wpe", {{"length", plan.tokens.longest}}));
  for (Layer& table : layers)
    table.trainable = !(table.kind == kinds::embedding ? plan.tokens.frozen : plan.tokens.frozen_positions);
  layers.insert(layers.end(), plan.hidden.begin(), plan.hidden.end());
  return layers;
}

namespace {

/// Every micro-batch's rows as sequences; the first of a window is as long as may be.
std::vector<std::int64_t> sequences_of(const Plan& plan, const std::vector<std::vector<std::int64_t>>& windows) {
  constexpr std::uint64_t apart = 0xbb67ae85u;
  executor::Schedule random(plan.seed ^ apart);
  std::vector<std::int64_t> lengths;
  for (const auto& window : windows) {
    bool first = true;
    for (std::int64_t left : window) {
      while (left > 0) {
        const auto drawn = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(plan.tokens.longest)));
        lengths.push_back(std::min(left, first ? plan.tokens.longest : drawn));
        left -= lengths.back();
        first = false;
      }
    }
  }
  return lengths;
}

/// Ranks of a window: where their number changes it goes back and forth, at every window or at every second one.
int ranks_in(const Plan& plan, std::size_t window) {
  const std::size_t alike = plan.windows.size() > 2 && plan.seed % 3 == 0 ? 2 : 1;
  return plan.next_ranks > 0 && window / alike % 2 == 1 ? plan.next_ranks : plan.ranks;
}

/// How many micro-batches of each window every rank has: about as many each, or as chance has it, or one rank all.
std::vector<std::vector<std::int64_t>> dealt_by(const Plan& plan) {
  constexpr std::uint64_t apart = 0xa54ff53au;
  executor::Schedule random(plan.seed ^ apart);
  const auto round = plan.chunks > 1 ? static_cast<std::uint64_t>(plan.stages) : 1;  // that go through a chunk together
  std::vector<std::vector<std::int64_t>> dealt;
  for (const auto& window : plan.windows) {
    const auto ranks = static_cast<std::uint64_t>(ranks_in(plan, dealt.size()));
    std::vector<std::int64_t>& counts = dealt.emplace_back(ranks, 0);
    const std::uint64_t way = random.below(8), all_to = random.below(ranks);
    std::uint64_t to = 0;
    for (std::uint64_t k = 0; k < window.size(); ++k) {
      if (k % round == 0) to = way == 0 ? all_to : way < 4 ? random.below(ranks) : k * ranks / window.size();
      counts[to] += 1;
    }
  }
  return dealt;
}

/// Statistics of a micro-step take two rows in all; what ranks hand over for them is said where there are some.
void fit_micro_steps(Case& c) {
  if (!pools_steps(c)) set_rank_option(c.execution, "statistics", standard_rank_option("statistics"));
  if (std::ranges::none_of(c.model.layers, takes_step_statistics)) return;
  for (std::size_t w = 0; w < c.windows.size(); ++w)
    for (std::size_t k = 0; k < c.windows[w].size(); ++k) {
      const std::size_t step = k - first_micro_batch_of(c, w, rank_with(c, w, k));
      if (rows_of_step(c, w, step) < 2) c.windows[w][k] = 2;
    }
}

/// The labels of some layers but not of all; of none where there is one or no layer.
std::vector<std::string> some_layers(const Model& model, std::uint64_t seed) {
  constexpr std::uint64_t apart = 0x3c6ef372u;
  executor::Schedule random(seed ^ apart);
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    if (random.below(2) == 0) labels.push_back(label_of(model, i));
  if (labels.empty() && model.layers.size() > 1) labels.push_back(label_of(model, 0));
  if (!labels.empty() && labels.size() == model.layers.size()) labels.pop_back();
  return labels;
}

}  // namespace

std::int64_t hidden_features(const Plan& plan) {
  const std::vector<Layer> layers = earlier_layers(plan);
  return features_before(Model{plan.input, layers, {}}, layers.size());
}

Case case_frame(const Plan& plan) {
  Case c;
  c.model.input = plan.input;
  c.model.tokens = plan.tokens.width > 0;
  c.model.layers = earlier_layers(plan);
  if (plan.has_head) {
    c.model.layers.push_back(layer("linear", "out", {{"out", plan.outputs}, {"bias", plan.output_bias}}));
    c.model.layers.back().trainable = plan.head_trains;
    if (plan.tokens.tied) c.model.layers.back().tied = "wte";
  }
  c.model.loss = plan.loss;
  c.windows = plan.windows;
  if (plan.ranks > 1) c.dealt = dealt_by(plan);
  c.execution = plan.execution;
  fit_micro_steps(c);
  if (c.model.tokens || reads_positions(c.model)) c.sequences = sequences_of(plan, c.windows);
  c.normalisation = plan.normalisation;
  c.precision = plan.precision;
  c.recipe = plan.recipe;
  cut_into_stages(plan, c);
  if (plan.execution.recompute && plan.recomputes_some) c.execution.recomputed = some_layers(c.model, plan.seed);
  return c;
}

Case case_of(const Plan& plan) {
  Case c = case_frame(plan);
  draw_tensors(plan, c);
  if (const auto errors = validate(c); !errors.empty()) {
    throw std::logic_error("the plan makes an invalid case: " + errors[0].path + ": found " + errors[0].found +
                           ", expected " + errors[0].expected);
  }
  return c;
}

}  // namespace tally
