// Cases for the lens tests: every layer, loss, recipe section and precision at least once, with values that are no
// short dyadic numbers. And what a list of checks amounts to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "kernels/training_step/run/run.hpp"
#include "properties/judge/lens.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally {

/// Redraws everything but masks, class targets and integers: He-like weights, normal data.
inline void draw_normal(Case& c, unsigned seed) {
  std::mt19937_64 random(seed);
  for (auto& [name, tensor] : c.tensors) {
    if (tensor.dtype == Dtype::u8 || tensor.dtype == Dtype::i64) continue;
    const bool matrix = tensor.shape.size() == 2 && name.ends_with(".weight");
    const double spread = matrix ? std::sqrt(2.0 / static_cast<double>(tensor.shape[1])) : name == "x" ? 1 : 0.1;
    const bool around_one = name.ends_with("running_var") || (name.ends_with(".weight") && !matrix);
    std::normal_distribution<double> normal(around_one ? 1 : 0, spread);
    for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, normal(random));
  }
}

inline Case normal_case(unsigned seed, Dtype storage = Dtype::fp32) {
  Case c = small_case();
  c.precision.storage = storage;
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, seed);
  return c;
}

inline Case normal_everything(unsigned seed, Dtype storage = Dtype::fp32) {
  Case c = case_with_everything();
  c.precision.storage = storage;
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, seed);
  return c;
}

/// MLP 16-32-8 with mse and SGD: two windows of eight micro-batches of two rows.
inline Case mlp(unsigned seed, Dtype storage = Dtype::fp32) {
  Case c = small_case();
  c.model.input = 16;
  c.model.layers = {layer_of("linear", "fc1", {{"out", std::int64_t{32}}}), layer_of("relu", ""),
                    layer_of("linear", "fc2", {{"out", std::int64_t{8}}})};
  c.model.loss = choice_of("loss", "mse");
  c.windows.assign(2, std::vector<std::int64_t>(8, 2));
  c.precision.storage = storage;
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, seed);
  return c;
}

/// One section of the recipe or of the model changed at a time.
inline std::map<std::string, Case> recipes() {
  std::map<std::string, Case> cases;
  const auto add = [&](const std::string& name, auto change) {
    Case c = normal_case(7);
    change(c);
    c.tensors.clear();
    fill_tensors(c);
    draw_normal(c, 7);
    cases[name] = c;
  };
  const Options momentum{{"momentum", Decimal{"0.9"}}};
  add("momentum", [&](Case& c) { c.recipe.optimizer = choice_of("optimizer", "sgd", momentum); });
  add("nesterov", [&](Case& c) {
    c.recipe.optimizer = choice_of("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}, {"nesterov", true}});
  });
  add("dampening", [&](Case& c) {
    c.recipe.optimizer = choice_of("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}, {"dampening", Decimal{"0.1"}}});
  });
  add("adam", [](Case& c) { c.recipe.optimizer = choice_of("optimizer", "adam"); });
  add("l2", [](Case& c) { c.recipe.weight_decay = choice_of("weight_decay", "l2", {{"lambda", Decimal{"0.01"}}}); });
  add("value clip", [](Case& c) { c.recipe.clip = choice_of("clip", "value", {{"max_value", Decimal{"0.01"}}}); });
  for (const char* norm : {"1", "2", "inf"}) {
    add(std::string("clip by norm ") + norm, [&](Case& c) {
      c.recipe.clip = choice_of("clip", "global_norm", {{"max_norm", Decimal{"0.1"}}, {"norm", std::string(norm)}});
    });
  }
  add("static scale", [](Case& c) {
    c.recipe.loss_scale = choice_of("loss_scale", "static", {{"scale", Decimal{"1000.1"}}});
  });
  add("step rate", [](Case& c) {
    c.recipe.learning_rate = choice_of(
        "learning_rate", "step", {{"base", Decimal{"0.1"}}, {"every", std::int64_t{1}}, {"factor", Decimal{"0.3"}}});
  });
  add("listed rates", [](Case& c) {
    c.recipe.learning_rate =
        choice_of("learning_rate", "list", {{"rates", std::vector<Decimal>{{"0.1"}, {"0.030000000000000002"}}}});
  });
  add("mean of means", [](Case& c) { c.normalisation = Normalisation::mean_of_means; });
  add("configured", [](Case& c) { c.normalisation = Normalisation::mean_of_means_configured; });
  add("sum", [](Case& c) { c.normalisation = Normalisation::sum; });
  add("smoothing", [](Case& c) {
    const std::vector<Decimal> weights{{"0.5"}, {"1.3"}, {"2"}};
    c.model.loss = choice_of("loss", "cross_entropy", {{"label_smoothing", Decimal{"0.1"}}, {"weight", weights}});
  });
  add("window statistics", [](Case& c) {
    c.model.layers.insert(c.model.layers.begin() + 1,
                          layer_of("batch_norm", "bn", {{"statistics", std::string("window")}}));
  });
  return cases;
}

inline std::uint64_t count(const std::vector<TensorCheck>& checks, Status status) {
  return static_cast<std::uint64_t>(
      std::count_if(checks.begin(), checks.end(), [&](const TensorCheck& check) { return check.status == status; }));
}

inline double worst_ratio(const std::vector<TensorCheck>& checks) {
  double worst = 0;
  for (const TensorCheck& check : checks) worst = std::max(worst, check.worst_ratio);
  return worst;
}

inline std::string told(const TensorCheck* check) {
  if (check == nullptr) return "";
  return check->lens + " " + check->tap + ": " + std::string(word_of(check->status)) + ", got " +
         std::to_string(check->got) + " for " + std::to_string(check->expected) + ", error " +
         std::to_string(check->error) + " of " + std::to_string(check->bound) + ", over " +
         std::to_string(check->over_bound);
}

inline std::string missing(const std::vector<TensorCheck>& checks) {
  for (const TensorCheck& check : checks) {
    if (check.status == Status::not_run) return check.tap;
  }
  return "";
}

}  // namespace tally
