#include "properties/studies/sweeps/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"

namespace tally {
namespace {

constexpr double smallest_normal_half = 0x1p-14;

Layer linear(const std::string& name, std::int64_t out) { return layer("linear", name, {{"out", out}}); }

Choice scale_of(const std::string& scale) { return choice("loss_scale", "static", {{"scale", Decimal{scale}}}); }

std::vector<SweepProblem> all_problems() {
  const Choice cross_entropy = choice("loss", "cross_entropy"), scale = scale_of("256");
  const Layer batch_norm = layer("batch_norm", "norm1", {{"statistics", std::string("micro_batch")}});
  return {
      {"relu, cross_entropy", {linear("fc1", 32), layer("relu")}, cross_entropy, 16, 10, scale},
      {"layer_norm, gelu",
       {linear("fc1", 32), layer("layer_norm", "norm1"), layer("gelu")},
       cross_entropy,
       16,
       10,
       scale},
      {"batch_norm, relu", {linear("fc1", 32), batch_norm, layer("relu")}, cross_entropy, 16, 10, scale},
      {"tanh, mse", {linear("fc1", 32), layer("tanh")}, choice("loss", "mse"), 16, 10, scale},
  };
}

/// The tensor's values in another format, which must hold them; what is below fp16's normal range becomes 0.
Tensor in_format(const Tensor& drawn, Dtype format) {
  Tensor tensor(format, drawn.shape);
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    const double value = drawn.value(i);
    tensor.set(i, std::fabs(value) >= smallest_normal_half ? value : 0);
  }
  return tensor;
}

}  // namespace

const std::vector<SweepProblem>& sweep_problems() {
  static const std::vector<SweepProblem> problems = all_problems();
  return problems;
}

Case sweep_case(const SweepProblem& problem, Dtype storage, std::int64_t rows, std::int64_t micro_batches,
                std::uint64_t seed) {
  Plan plan;
  plan.input = problem.input;
  plan.hidden = problem.hidden;
  plan.outputs = problem.outputs;
  plan.loss = problem.loss;
  plan.windows = {std::vector<std::int64_t>(static_cast<std::size_t>(micro_batches), rows / micro_batches)};
  plan.precision.storage = Dtype::bf16;
  plan.recipe = {choice("optimizer", "sgd"), choice("learning_rate", "constant", {{"base", Decimal{"0.05"}}}),
                 choice("weight_decay", "none"), choice("clip", "none"), problem.loss_scale};
  plan.seed = seed;
  Case c = case_of(plan);
  c.precision.storage = storage;
  for (const char* name : {"x", "target"}) {
    Tensor& tensor = c.tensors.at(name);
    if (tensor.dtype == Dtype::bf16) tensor = in_format(tensor, storage);
  }
  return c;
}

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace tally
