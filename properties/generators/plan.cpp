#include "properties/generators/plan.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/layers/contract.hpp"
#include "properties/generators/case_frame.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/tensors.hpp"

namespace tally {

std::int64_t hidden_features(const Plan& plan) {
  return features_before(Model{plan.input, plan.hidden, {}}, plan.hidden.size());
}

Case case_frame(const Plan& plan) {
  Case c;
  c.model.input = plan.input;
  c.model.layers = plan.hidden;
  c.model.layers.push_back(layer("linear", "out", {{"out", plan.outputs}, {"bias", plan.output_bias}}));
  c.model.loss = plan.loss;
  c.windows = plan.windows;
  c.normalisation = plan.normalisation;
  c.precision = plan.precision;
  c.recipe = plan.recipe;
  c.execution = plan.execution;
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

std::string formats_of(const Precision& precision) {
  std::string words(name_of(precision.storage));
  const auto add = [&](const char* what, Dtype dtype) {
    if (dtype != Dtype::fp32) words += std::string(", ") + what + " " + std::string(name_of(dtype));
  };
  add("accumulator", precision.compute);
  add("buffer", precision.accumulate);
  add("master", precision.master);
  return words + (precision.tf32 ? ", TF32" : "");
}

namespace {

std::string of_windows(const Case& c) {
  std::size_t most = 0;
  for (const auto& window : c.windows) most = std::max(most, window.size());
  return ", K = " + std::to_string(most) + ", " + std::to_string(c.windows.size()) +
         (c.windows.size() == 1 ? " window, " : " windows, ") + c.recipe.optimizer.kind;
}

}  // namespace

std::string title_of(const Case& c) {
  if (is_opaque(c.model))
    return formats_of(c.precision) + ", opaque, " + std::to_string(parameters_of(c.model).size()) + " tensors, " +
           c.model.loss.kind + of_windows(c);
  std::string sizes = std::to_string(c.model.input), kinds;
  for (const Layer& l : c.model.layers) {
    if (l.kind == "linear") {
      sizes += "-" + std::to_string(l.integer("out"));
    } else {
      kinds += ", " + l.kind;
    }
  }
  return formats_of(c.precision) + ", linear " + sizes + kinds + ", " + c.model.loss.kind + of_windows(c);
}

}  // namespace tally
