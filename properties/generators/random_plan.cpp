#include "properties/generators/random_plan.hpp"

#include <initializer_list>
#include <utility>

#include "properties/generators/choices.hpp"

namespace tally {
namespace {

using rc::gen::inRange;

/// One of the values, each as often as its weight says, whatever RapidCheck's size; shrinks toward the first.
template <class T>
T pick(std::initializer_list<std::pair<int, T>> choices) {
  int total = 0;
  for (const auto& choice : choices) total += choice.first;
  int at = *rc::gen::resize(rc::kNominalSize, inRange(0, total));
  for (const auto& [weight, value] : choices) {
    if (at < weight) return value;
    at -= weight;
  }
  return choices.begin()->second;
}

bool one_in(int n) { return *inRange(0, n) == n - 1; }  // shrinks to false

std::int64_t width() {
  return pick<std::int64_t>({{3, 1}, {4, 2}, {4, 3}, {3, 5}, {3, 8}, {2, 16}, {1, 31}, {1, 32}, {1, 33}});
}

void add_norm(Plan& plan, int index) {
  const std::string name = "norm" + std::to_string(index);
  const int kind = *inRange(0, 4);
  if (kind == 1) plan.hidden.push_back(layer("layer_norm", name, {{"affine", !one_in(4)}}));
  if (kind == 2 || kind == 3) {
    const auto statistics = pick<std::string>({{3, "micro_batch"}, {2, "frozen"}, {2, "window"}});
    plan.hidden.push_back(layer("batch_norm", name, {{"statistics", statistics}, {"affine", !one_in(4)}}));
  }
}

void add_block(Plan& plan, int index) {
  plan.hidden.push_back(layer("linear", "fc" + std::to_string(index), {{"out", width()}, {"bias", !one_in(4)}}));
  add_norm(plan, index);
  const auto activation = pick<std::string>({{1, ""}, {4, "relu"}, {1, "tanh"}, {1, "sigmoid"}, {1, "gelu"}});
  if (activation == "gelu") {
    plan.hidden.push_back(layer("gelu", "", {{"approximate", std::string(one_in(2) ? "tanh" : "none")}}));
  } else if (!activation.empty()) {
    plan.hidden.push_back(layer(activation));
  }
  if (one_in(5)) {
    const auto p = pick<std::string>({{1, "0.5"}, {1, "0.25"}, {1, "0.1"}});
    plan.hidden.push_back(layer("dropout", "drop" + std::to_string(index), {{"p", Decimal{p}}}));
  }
}

void choose_loss(Plan& plan) {
  if (one_in(3)) {
    plan.loss = choice("loss", "mse", {{"item_weights", one_in(3)}});
    return;
  }
  const auto smoothing = pick<std::string>({{4, "0"}, {1, "0.1"}});
  plan.loss = choice("loss", "cross_entropy", {{"label_smoothing", Decimal{smoothing}}});
  plan.outputs = std::max<std::int64_t>(plan.outputs, 2);
  plan.ignored_percent = pick<int>({{3, 0}, {1, 30}});
}

bool needs_two_rows(const Plan& plan) {
  for (const Layer& l : plan.hidden) {
    if (l.kind == "batch_norm") return true;
  }
  return false;
}

void cut_windows(Plan& plan) {
  const int least = needs_two_rows(plan) ? 2 : 1;
  plan.windows.clear();
  const int windows = pick<int>({{3, 1}, {3, 2}, {1, 3}});
  for (int w = 0; w < windows; ++w) {
    const int micro_batches = pick<int>({{1, 1}, {3, 2}, {3, 3}, {1, 5}, {1, 8}});
    std::vector<std::int64_t> sizes;
    for (int k = 0; k < micro_batches; ++k) sizes.push_back(*inRange(least, 6));
    plan.windows.push_back(sizes);
  }
}

void choose_optimizer(Recipe& recipe) {
  if (one_in(3)) {
    recipe.optimizer = choice("optimizer", "adam");
    return;
  }
  const auto momentum = pick<std::string>({{2, "0"}, {3, "0.9"}});
  const bool nesterov = momentum != "0" && one_in(3);
  const auto dampening = momentum == "0" || nesterov ? "0" : pick<std::string>({{3, "0"}, {1, "0.1"}});
  recipe.optimizer = choice(
      "optimizer", "sgd", {{"momentum", Decimal{momentum}}, {"dampening", Decimal{dampening}}, {"nesterov", nesterov}});
}

void choose_rate_and_decay(Recipe& recipe) {
  const int rate = *inRange(0, 3);
  if (rate == 0) recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.1"}}});
  if (rate == 1) {
    recipe.learning_rate = choice("learning_rate", "step",
                                  {{"base", Decimal{"0.1"}}, {"every", std::int64_t{1}}, {"factor", Decimal{"0.5"}}});
  }
  if (rate == 2) {
    recipe.learning_rate = choice("learning_rate", "warmup_cosine",
                                  {{"base", Decimal{"0.1"}}, {"warmup", std::int64_t{2}}, {"total", std::int64_t{10}}});
  }
  const auto decay = pick<std::string>({{2, "none"}, {2, "l2"}, {1, "decoupled"}});
  recipe.weight_decay =
      decay == "none" ? choice("weight_decay", decay) : choice("weight_decay", decay, {{"lambda", Decimal{"0.01"}}});
}

void choose_clip(Recipe& recipe) {
  const int clip = *inRange(0, 4);
  if (clip == 0) recipe.clip = choice("clip", "none");
  if (clip == 1) recipe.clip = choice("clip", "value", {{"max_value", Decimal{"0.25"}}});
  if (clip < 2) return;
  const auto max_norm = pick<std::string>({{1, "0.25"}, {1, "3"}, {1, "1000"}});
  recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{max_norm}}});
}

void choose_scale(Plan& plan) {
  const auto kind = pick<std::string>({{2, "none"}, {1, "static"}, {2, "dynamic"}});
  Options options;
  if (kind == "static") options = {{"scale", Decimal{pick<std::string>({{1, "256"}, {1, "1000"}})}}};
  if (kind == "dynamic") options = {{"initial", Decimal{"1024"}}, {"growth_interval", std::int64_t{2}}};
  plan.recipe.loss_scale = choice("loss_scale", kind, options);
}

Plan draw_plan(Dtype storage) {
  Plan plan;
  plan.precision.storage = storage;
  plan.seed = *inRange<std::uint64_t>(1, 1u << 20);
  plan.input = width();
  const int blocks = pick<int>({{2, 0}, {4, 1}, {1, 2}});
  for (int i = 1; i <= blocks; ++i) add_block(plan, i);
  plan.outputs = *inRange<std::int64_t>(1, 5);
  choose_loss(plan);
  cut_windows(plan);
  choose_optimizer(plan.recipe);
  choose_rate_and_decay(plan.recipe);
  choose_clip(plan.recipe);
  choose_scale(plan);
  plan.recompute = one_in(8);
  return plan;
}

}  // namespace

rc::Gen<Plan> random_plan(Dtype storage) {
  return rc::gen::exec([storage] { return draw_plan(storage); });
}

void showValue(const Plan& plan, std::ostream& out) { out << title_of(case_of(plan)); }

}  // namespace tally
