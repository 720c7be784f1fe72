// Training problems that the exact sweeps share, distances in the space of parameters, and the order of a distance.
#include "properties/lab/sweeps/exact_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "properties/campaign/training/data.hpp"
#include "properties/generators/choices.hpp"

namespace tally {

Point point_of(const oracle::Tensors<long double>& tensors) {
  Point p;
  for (const auto& [name, tensor] : tensors) p.insert(p.end(), tensor.data(), tensor.data() + tensor.size());
  return p;
}

Point parameters_of(const ExactState& state) {
  Point p;
  for (const auto& [name, slot] : state.slots) {
    p.insert(p.end(), slot.parameter.data(), slot.parameter.data() + slot.parameter.size());
  }
  return p;
}

long double norm(const Point& p) {
  long double sum = 0;
  for (const long double each : p) sum += each * each;
  return std::sqrt(sum);
}

Point difference(const Point& a, const Point& b) {
  Point result = a;
  add_to(result, -1, b);
  return result;
}

void add_to(Point& sum, long double weight, const Point& p) {
  if (sum.empty()) sum.assign(p.size(), 0);
  if (sum.size() != p.size()) throw std::logic_error("points of two different models");
  for (std::size_t i = 0; i < p.size(); ++i) sum[i] += weight * p[i];
}

Point trained(const Case& c) {
  auto state = oracle::initial_state<long double>(c);
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    state = oracle::evaluate_window(c, w, oracle::Branch::accumulated, state).after;
  }
  return parameters_of(state);
}

Point untrained(const Case& c) { return parameters_of(oracle::initial_state<long double>(c)); }

std::vector<Point> gradients_at_start(const Case& c) {
  const auto start = oracle::initial_state<long double>(c);
  std::vector<Point> gradients;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    gradients.push_back(point_of(oracle::evaluate_window(c, w, oracle::Branch::accumulated, start).grad));
  }
  return gradients;
}

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
    if (each.kind == kinds::linear) {
      add("weight", {each.integer("out"), features}, "he:" + std::to_string(features));
      add("bias", {each.integer("out")}, "zeros");
    } else if (each.kind == kinds::layer_norm || each.kind == kinds::batch_norm) {
      add("weight", {features}, "ones");
      add("bias", {features}, "zeros");
    }
    if (each.kind != kinds::batch_norm) continue;
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
    if (each.kind == kinds::linear) title += "-" + std::to_string(each.integer("out"));
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

namespace {

MomentumSettings same(MomentumSettings one, double) { return one; }

MomentumSettings rate_times_k(MomentumSettings one, double k) { return {k * one.rate, one.beta}; }

MomentumSettings half_life_kept(MomentumSettings one, double k) {
  const double beta = std::pow(one.beta, k);
  return {k * one.rate * ((1 - beta) / (1 - one.beta)), beta};
}

}  // namespace

const std::vector<MomentumRule>& momentum_rules() {
  static const std::vector<MomentumRule> all{
      {"same rate, same β", same}, {"rate × K, same β", rate_times_k}, {"half-life kept", half_life_kept}};
  return all;
}

double half_life(double beta) { return std::log(0.5) / std::log(beta); }

Point trained_in_windows(const Case& c, std::int64_t k, std::int64_t rows, MomentumSettings with) {
  const std::int64_t windows = c.tensors.at("x").shape[0] / (k * rows);
  return trained(with_optimizer(in_windows(c, windows, k, rows), sgd(with.beta), with.rate));
}

Point first_order_way(const std::vector<Point>& gradients, std::int64_t k, MomentumSettings with) {
  Point way;
  const auto micro_batches = static_cast<std::int64_t>(gradients.size());
  const long double beta = with.beta, rate = with.rate;
  for (std::int64_t i = 0; i < micro_batches; ++i) {
    const auto left = static_cast<long double>(micro_batches / k - i / k);
    const long double weight = rate * (1 - std::pow(beta, left)) / (1 - beta);
    add_to(way, -weight / static_cast<long double>(k), gradients[static_cast<std::size_t>(i)]);
  }
  return way;
}

namespace {

std::string printed(const char* format, double number) {
  char text[32];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

}  // namespace

RateOrder order_in_rate(const std::vector<double>& distances) {
  const auto order_at = [&](std::size_t from_last) {
    const std::size_t i = distances.size() - 1 - from_last;
    return std::log2(distances.at(i - 1) / distances.at(i));
  };
  const double fine = order_at(0), coarse = order_at(1), coarser = order_at(2);
  const double reach = 2 * std::abs(coarse - fine) + std::abs(coarser - coarse);
  return {fine, fine - reach, fine + reach};
}

std::string words_of(const RateOrder& order) {
  return printed("%.4f", order.value) + " (" + printed("%.4f", order.low) + " to " + printed("%.4f", order.high) + ")";
}

}  // namespace tally
