#include "properties/generators/simpler_plans.hpp"

#include <algorithm>
#include <utility>

#include "oracle/case/kinds.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
namespace {

/// One rank alone is told nothing of others, and replicas go on where they divide the ranks of every window.
void with_ranks(Plan& plan, int ranks, int next) {
  plan.ranks = ranks;
  plan.next_ranks = ranks > 1 ? next : 0;
  const std::int64_t replicas = std::get<std::int64_t>(rank_option(plan.execution, "replicas"));
  if (ranks % replicas != 0 || next % replicas != 0) set_rank_option(plan.execution, "replicas", std::int64_t{1});
  if (ranks > 1) return;
  plan.execution.ranks = {};
  forget_running(plan.hidden);
}

class Steps {
 public:
  explicit Steps(const Plan& plan) : plan_(plan) {}

  /// Adds the plan with a change, unless it changed nothing.
  template <class Change>
  void add(Change change) {
    Plan simpler = plan_;
    change(simpler);
    all_.push_back(std::move(simpler));
  }
  std::vector<Plan> all() && { return std::move(all_); }

 private:
  const Plan& plan_;
  std::vector<Plan> all_;
};

void fewer_layers(const Plan& plan, Steps& steps) {
  const std::size_t count = plan.hidden.size();
  if (count > 1) steps.add([](Plan& p) { p.hidden.clear(); });
  const auto is_sum = [](const Layer& l) { return l.kind == kinds::add; };
  if (std::ranges::any_of(plan.hidden, is_sum)) steps.add([&](Plan& p) { take_out_if(p.hidden, is_sum); });
  for (std::size_t first = 0; first < count; ++first) {  // whole blocks, from one linear layer to the next
    std::size_t end = first + 1;
    while (end < count && plan.hidden[end].kind != kinds::linear) ++end;
    if (plan.hidden[first].kind != kinds::linear || end == first + 1) continue;
    steps.add([=](Plan& p) {
      for (std::size_t i = end; i-- > first;) take_out(p.hidden, i);
    });
  }
  for (std::size_t i = 0; i < count; ++i) steps.add([i](Plan& p) { take_out(p.hidden, i); });
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < plan.hidden[i].inputs.size() && plan.hidden[i].inputs.size() > 2; ++j)
      steps.add([=](Plan& p) { p.hidden[i].inputs.erase(p.hidden[i].inputs.begin() + std::ptrdiff_t(j)); });
}

/// Smaller sizes worth trying instead of n: the smallest, then half.
std::vector<std::int64_t> smaller(std::int64_t n, std::int64_t least) {
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : {least, least + 1, n / 2, n - 1}) {
    if (size >= least && size < n && (sizes.empty() || sizes.back() < size)) sizes.push_back(size);
  }
  return sizes;
}

/// A layer without its adapter; and every layer trains.
void fewer_adapters(const Plan& plan, Steps& steps) {
  for (std::size_t i = 0; i < plan.hidden.size(); ++i) {
    std::vector<Layer> without = plan.hidden;
    if (take_adapter_off(without, i)) steps.add([&](Plan& p) { p.hidden = std::move(without); });
  }
  if (std::ranges::all_of(plan.hidden, &Layer::trainable)) return;
  steps.add([](Plan& p) {
    for (Layer& layer : p.hidden) layer.trainable = true;
  });
}

void fewer_micro_batches(const Plan& plan, Steps& steps) {
  for (std::size_t count = 1; count < plan.windows.size(); ++count) {
    steps.add([count](Plan& p) { p.windows.resize(count); });
  }
  for (const std::int64_t count : smaller(std::int64_t(plan.windows.front().size()), 1)) {  // all windows alike
    steps.add([count](Plan& p) {
      for (auto& window : p.windows) window.resize(std::min(window.size(), std::size_t(count)));
    });
  }
  for (std::size_t w = 0; w < plan.windows.size(); ++w) {
    for (const std::int64_t count : smaller(std::int64_t(plan.windows[w].size()), 1)) {
      steps.add([=](Plan& p) { p.windows[w].resize(std::size_t(count)); });
    }
  }
}

void fewer_ranks(const Plan& plan, Steps& steps) {
  if (plan.next_ranks > 0) steps.add([](Plan& p) { p.next_ranks = 0; });
  for (const std::int64_t next : smaller(plan.next_ranks, 1))
    steps.add([=](Plan& p) { with_ranks(p, p.ranks, static_cast<int>(next)); });
  for (const std::int64_t ranks : smaller(plan.ranks, 1))
    steps.add([=](Plan& p) { with_ranks(p, static_cast<int>(ranks), p.next_ranks); });
  for (const auto& [name, value] : plan.execution.ranks.options) {
    if (name == "reduce.factor") continue;  // goes with the division that asks for it
    const OptionValue& standard = standard_rank_option(name);
    steps.add([&](Plan& p) {
      set_rank_option(p.execution, name, standard);
      if (name == "reduce.wire") set_rank_option(p.execution, "reduce.accumulate", std::string("wire"));
      if (name == "sharding") set_rank_option(p.execution, "replicas", std::int64_t{1});
      if (name != "reduce.divide") return;
      set_rank_option(p.execution, "reduce.factor", standard_rank_option("reduce.factor"));
      if (rank_word(p.execution, "communicate") == "running_total")
        set_rank_option(p.execution, "communicate", std::string("window"));
    });
  }
}

void fewer_stages(const Plan& plan, Steps& steps) {
  for (const std::int64_t stages : smaller(plan.stages, 1))
    steps.add([=](Plan& p) {
      p.stages = static_cast<int>(stages);
      if (stages == 1) p.execution.ranks = {};
    });
  if (plan.stages > 1 && plan.chunks > 1) steps.add([](Plan& p) { p.chunks = 1; });
}

void first_running_alone(const Plan& plan, Steps& steps) {
  if (std::ranges::any_of(plan.hidden, says_running)) steps.add([](Plan& p) { forget_running(p.hidden); });
}

void fewer_rows(const Plan& plan, Steps& steps) {
  std::int64_t most = 1;
  for (const auto& window : plan.windows) most = std::max(most, *std::max_element(window.begin(), window.end()));
  for (const std::int64_t limit : smaller(most, 1)) {
    steps.add([limit](Plan& p) {
      for (auto& window : p.windows)
        for (auto& rows : window) rows = std::min(rows, limit);
    });
  }
  for (std::size_t w = 0; w < plan.windows.size(); ++w) {
    for (std::size_t k = 0; k < plan.windows[w].size(); ++k) {
      for (const std::int64_t rows : smaller(plan.windows[w][k], 1))
        steps.add([=](Plan& p) { p.windows[w][k] = rows; });
    }
  }
}

void fewer_features(const Plan& plan, Steps& steps) {
  for (const std::int64_t n : smaller(plan.input, 1)) steps.add([n](Plan& p) { p.input = n; });
  const std::int64_t least = plan.loss.kind == kinds::cross_entropy ? 2 : 1;
  for (const std::int64_t n : smaller(plan.outputs, least)) steps.add([n](Plan& p) { p.outputs = n; });
  for (std::size_t i = 0; i < plan.hidden.size(); ++i) {
    if (plan.hidden[i].kind != kinds::linear) continue;
    for (const std::int64_t n : smaller(plan.hidden[i].integer("out"), 1)) {
      steps.add([=](Plan& p) { p.hidden[i].options["out"] = n; });
    }
    if (plan.hidden[i].flag("bias")) steps.add([i](Plan& p) { p.hidden[i].options["bias"] = false; });
  }
}

void plainer_loss(const Plan& plan, Steps& steps) {
  const Choice plain = choice("loss", "mse");
  if (plan.loss != plain) {
    steps.add([&](Plan& p) {
      p.loss = plain;
      p.ignored_percent = 0;
      p.empty_micro_batch = false;
    });
  }
  if (plan.loss.kind == kinds::cross_entropy && plan.loss != choice("loss", "cross_entropy")) {
    steps.add([](Plan& p) { p.loss = choice("loss", "cross_entropy"); });
  }
  if (plan.ignored_percent != 0) steps.add([](Plan& p) { p.ignored_percent = 0; });
  if (plan.empty_micro_batch) steps.add([](Plan& p) { p.empty_micro_batch = false; });
  if (plan.empty_window) steps.add([](Plan& p) { p.empty_window = false; });
}

void plainer_recipe(const Plan& plan, Steps& steps) {
  const auto replace = [&](Choice Recipe::*section, const Choice& plain) {
    if (plan.recipe.*section != plain) steps.add([&](Plan& p) { p.recipe.*section = plain; });
  };
  replace(&Recipe::weight_decay, choice("weight_decay", "none"));
  replace(&Recipe::clip, choice("clip", "none"));
  replace(&Recipe::loss_scale, choice("loss_scale", "none"));
  replace(&Recipe::optimizer, choice("optimizer", "sgd", {{"momentum", Decimal{"0"}}}));
  const auto set = [&](Choice Recipe::*section, const std::string& option, const std::string& number) {
    const auto found = (plan.recipe.*section).options.find(option);
    if (found == (plan.recipe.*section).options.end() || found->second == OptionValue(Decimal{number})) return;
    steps.add([&](Plan& p) { (p.recipe.*section).options[option] = Decimal{number}; });
  };
  set(&Recipe::weight_decay, "lambda", "0.5");
  set(&Recipe::clip, "max_norm", "1");
  set(&Recipe::loss_scale, "scale", "2"), set(&Recipe::loss_scale, "initial", "2");
  set(&Recipe::learning_rate, "base", "1");
  if (plan.recipe.optimizer.kind != kinds::sgd) return;
  set(&Recipe::optimizer, "momentum", "0.5");
  if (plan.recipe.learning_rate.kind != kinds::constant) {
    replace(&Recipe::learning_rate, choice("learning_rate", "constant", {{"base", Decimal{"1"}}}));
  }
}

void fewer_tokens(const Plan& plan, Steps& steps) {
  if (plan.tokens.width == 0) return;
  if (plan.tokens.tied) steps.add([](Plan& p) { p.tokens.tied = false; });
  if (plan.tokens.frozen || plan.tokens.frozen_positions)
    steps.add([](Plan& p) { p.tokens.frozen = p.tokens.frozen_positions = false; });
  if (plan.tokens.positions) steps.add([](Plan& p) { p.tokens.positions = false; });
  for (const std::int64_t n : smaller(plan.tokens.longest, 1)) steps.add([n](Plan& p) { p.tokens.longest = n; });
  for (const std::int64_t n : smaller(plan.tokens.width, 1)) steps.add([n](Plan& p) { p.tokens.width = n; });
}

void usual_formats(const Plan& plan, Steps& steps) {
  const Precision& now = plan.precision;
  if (now.accumulate != Dtype::fp32) steps.add([](Plan& p) { p.precision.accumulate = Dtype::fp32; });
  if (now.master != Dtype::fp32) steps.add([](Plan& p) { p.precision.master = Dtype::fp32; });
  if (now.compute != Dtype::fp32) steps.add([](Plan& p) { p.precision.compute = Dtype::fp32; });
  if (now.tf32) steps.add([](Plan& p) { p.precision.tf32 = false; });
}

}  // namespace

std::vector<Plan> simpler_plans(const Plan& plan) {
  Steps steps(plan);
  fewer_ranks(plan, steps);
  fewer_stages(plan, steps);
  first_running_alone(plan, steps);
  fewer_layers(plan, steps);
  fewer_adapters(plan, steps);
  fewer_micro_batches(plan, steps);
  plainer_recipe(plan, steps);
  plainer_loss(plan, steps);
  fewer_features(plan, steps);
  fewer_rows(plan, steps);
  fewer_tokens(plan, steps);
  usual_formats(plan, steps);
  if (!plan.values.empty()) steps.add([](Plan& p) { p.values.clear(); });
  if (plan.constant) steps.add([](Plan& p) { p.constant = false; });
  if (plan.far_mean) steps.add([](Plan& p) { p.far_mean = false; });
  if (plan.execution.schedule != 0) steps.add([](Plan& p) { p.execution.schedule = 0; });
  if (!plan.execution.preemptions.empty()) steps.add([](Plan& p) { p.execution.preemptions.clear(); });
  if (plan.execution.order != 0) steps.add([](Plan& p) { p.execution.order = 0; });
  for (const auto& named : plan.execution.kernels)
    steps.add([operation = named.first](Plan& p) { p.execution.kernels.erase(operation); });
  if (plan.execution.recompute && plan.recomputes_some) steps.add([](Plan& p) { p.recomputes_some = false; });
  if (plan.execution.recompute) steps.add([](Plan& p) { p.execution.recompute = false; });
  return std::move(steps).all();
}

}  // namespace tally
