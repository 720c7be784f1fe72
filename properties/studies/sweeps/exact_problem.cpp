#include "properties/studies/sweeps/exact_problem.hpp"

#include <algorithm>
#include <stdexcept>

#include "oracle/case/io.hpp"
#include "properties/digits/data.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
namespace {

constexpr std::int64_t drawn_features = 8, drawn_classes = 4, digit_features = 64, digit_classes = 10,
                       hidden_units = 16;
constexpr double base_rate = 0x1p-6;

std::vector<Layer> hidden_of(const ExactProblem& problem) {
  if (!problem.hidden.empty()) return problem.hidden;
  return {layer("linear", "fc1", {{"out", hidden_units}}), layer("tanh")};
}

Tensor drawn(Dtype dtype, std::vector<std::int64_t> shape, const std::string& family, std::uint64_t seed) {
  Tensor tensor(dtype, std::move(shape));
  draw(tensor, Drawing{1, seed, family});
  return tensor;
}

/// Rows and classes where the class can be read from the row.
void add_drawn_rows(const ExactProblem& problem, std::uint64_t seed, Case& c) {
  const Tensor narrow = drawn(Dtype::fp16, {problem.rows, drawn_features}, "normal", seed);
  Tensor x(problem.storage, narrow.shape), target(Dtype::i64, {problem.rows});
  for (std::size_t i = 0; i < x.elements(); ++i) x.set(i, narrow.value(i));
  for (std::size_t row = 0; row < target.elements(); ++row) {
    std::size_t largest = 0;
    for (std::size_t k = 1; k < drawn_classes; ++k) {
      if (narrow.value(row * drawn_features + k) > narrow.value(row * drawn_features + largest)) largest = k;
    }
    target.set(row, static_cast<double>(largest));
  }
  c.tensors = {{"x", std::move(x)}, {"target", std::move(target)}};
}

/// Consecutive rows of the digits, from another place for every seed.
void add_digit_rows(const ExactProblem& problem, Case& c) {
  const Digits& data = digits_data();
  const std::size_t first = problem.seed * 64 % data.labels.size();
  Tensor x(problem.storage, {problem.rows, digit_features}), target(Dtype::i64, {problem.rows});
  for (std::size_t row = 0; row < target.elements(); ++row) {
    const std::size_t from = (first + row) % data.labels.size();
    target.set(row, data.labels[from]);
    for (std::size_t i = 0; i < digit_features; ++i) {
      x.set(row * digit_features + i, data.pixels[from * digit_features + i] / 16.0);
    }
  }
  c.tensors = {{"x", std::move(x)}, {"target", std::move(target)}};
}

/// Linear layers as frameworks start them; norms that neither scale nor shift yet.
void add_parameters(Case& c, std::uint64_t seed) {
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& each = c.model.layers[i];
    const std::int64_t features = features_before(c.model, i);
    const auto add = [&](const char* name, std::vector<std::int64_t> shape, const std::string& family) {
      c.tensors.emplace(each.name + "." + name, drawn(Dtype::fp32, std::move(shape), family, seed + 2 * i));
    };
    if (each.kind == "linear") {
      add("weight", {each.integer("out"), features}, "he:" + std::to_string(features));
      add("bias", {each.integer("out")}, "zeros");
    } else if (each.kind == "layer_norm" || each.kind == "batch_norm") {
      add("weight", {features}, "ones");
      add("bias", {features}, "zeros");
    }
    if (each.kind != "batch_norm") continue;
    add("running_mean", {features}, "zeros");
    add("running_var", {features}, "ones");
  }
}

void require_valid(const Case& c) {
  const auto errors = validate(c);
  if (errors.empty()) return;
  throw std::logic_error("a sweep makes an invalid case: " + errors[0].path + ": found " + errors[0].found +
                         ", expected " + errors[0].expected);
}

}  // namespace

Case exact_case(const ExactProblem& problem) {
  const bool digits = problem.source == RowSource::digits;
  const std::uint64_t seed = problem.seed % (std::uint64_t{1} << 40) * 1000;  // seeds stay below 2^53, as JSON needs
  Case c;
  c.name = title_of(problem);
  c.model.input = digits ? digit_features : drawn_features;
  c.model.layers = hidden_of(problem);
  c.model.layers.push_back(layer("linear", "out", {{"out", digits ? digit_classes : drawn_classes}}));
  c.model.loss = choice("loss", "cross_entropy");
  c.windows = {{problem.rows}};
  c.precision.storage = problem.storage;
  c.recipe = {sgd(0), choice("learning_rate", "constant", {{"base", decimal(base_rate)}}),
              choice("weight_decay", "none"), choice("clip", "none"), choice("loss_scale", "none")};
  if (digits) {
    add_digit_rows(problem, c);
  } else {
    add_drawn_rows(problem, seed, c);
  }
  add_parameters(c, seed + 1);
  require_valid(c);
  return c;
}

std::string title_of(const ExactProblem& problem) {
  const bool digits = problem.source == RowSource::digits;
  std::string title =
      digits ? "digits, " + std::to_string(digit_features) : "drawn data, " + std::to_string(drawn_features);
  for (const Layer& each : hidden_of(problem)) {
    if (each.kind == "linear") title += "-" + std::to_string(each.integer("out"));
  }
  return title + "-" + std::to_string(digits ? digit_classes : drawn_classes);
}

Case in_windows(Case c, std::int64_t count, std::int64_t micro_batches, std::int64_t rows) {
  const std::vector<std::int64_t> window(static_cast<std::size_t>(micro_batches), rows);
  c.windows.assign(static_cast<std::size_t>(count), window);
  require_valid(c);
  return c;
}

Case with_optimizer(Case c, Choice optimizer, double rate) {
  c.recipe.optimizer = std::move(optimizer);
  c.recipe.learning_rate = choice("learning_rate", "constant", {{"base", decimal(rate)}});
  return c;
}

Choice sgd(double momentum) { return choice("optimizer", "sgd", {{"momentum", decimal(momentum)}}); }

}  // namespace tally
