// Which training problems there are, and each as a case.
#include <stdexcept>

#include "oracle/case/io.hpp"
#include "properties/campaign/training/data.hpp"
#include "properties/campaign/training/training.hpp"
#include "properties/generators/choices.hpp"

namespace tally {

// Which training problems there are. With LayerNorm or no norm every cut equals the full batch, so all share one exact
// trajectory; with BatchNorm each cut is an exact problem of its own.
namespace {

const std::vector<BatchCut>& digit_cuts() {
  static const std::vector<BatchCut> cuts{
      {"K=1", {64}, {5}},
      {"K=2", {32, 32}, {5}},
      {"K=4", {16, 16, 16, 16}, {5}},
      {"K=8", {8, 8, 8, 8, 8, 8, 8, 8}, {5}},
      {"uneven", {20, 20, 20, 4}, {3, 2}},
  };
  return cuts;
}

std::vector<BatchCut> tutorial_cuts() {
  return {{"K=1", {64}, {}}, {"K=2", {32, 32}, {}}, {"K=4", {16, 16, 16, 16}, {}}, {"uneven", {20, 20, 20, 4}, {}}};
}

std::vector<TrainingProblem> all_problems() {
  return {
      {"digits, 64-32-10 BatchNorm", "digits", "64-32-10 BatchNorm", digit_cuts(), false},
      {"digits, 64-32-10 LayerNorm", "digits", "64-32-10 LayerNorm", digit_cuts(), true},
      {"tutorial, 100-500-10", "tutorial", "100-500-10", tutorial_cuts(), true},
  };
}

}  // namespace

const std::vector<TrainingProblem>& training_problems() {
  static const std::vector<TrainingProblem> problems = all_problems();
  return problems;
}

// The training problems as cases.
namespace {

constexpr std::int64_t batch = 64;

void draw_into(Case& c, const std::string& name, Dtype dtype, std::vector<std::int64_t> shape,
               const std::string& family, std::uint64_t seed) {
  Tensor tensor(dtype, std::move(shape));
  draw(tensor, Drawing{1, seed, family});
  c.tensors.insert_or_assign(name, std::move(tensor));
}

void fill_linear(Case& c, const std::string& name, std::int64_t out, std::int64_t in, std::uint64_t seed) {
  draw_into(c, name + ".weight", Dtype::fp32, {out, in}, "he:" + std::to_string(in), seed);
  draw_into(c, name + ".bias", Dtype::fp32, {out}, "zeros", seed + 1);
}

Recipe momentum_recipe() {
  return {choice("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}}),
          choice("learning_rate", "constant", {{"base", Decimal{"0.05"}}}),
          choice("weight_decay", "l2", {{"lambda", Decimal{"1e-4"}}}),
          choice("clip", "global_norm", {{"max_norm", Decimal{"1.0"}}}),
          choice("loss_scale", "dynamic", {{"initial", Decimal{"256"}}, {"growth_interval", std::int64_t{10}}})};
}

Case digits_case(const TrainingProblem& problem, const BatchCut& cut, Dtype storage) {
  const Digits& data = digits_data();
  const auto rows = static_cast<std::int64_t>(data.labels.size());
  const bool batch_norm = problem.model.ends_with("BatchNorm");
  Case c;
  c.model.input = 64;
  c.model.layers = {layer("linear", "fc1", {{"out", std::int64_t{32}}}),
                    batch_norm ? layer("batch_norm", "norm1", {{"statistics", std::string("micro_batch")}})
                               : layer("layer_norm", "norm1"),
                    layer("relu"), layer("linear", "fc2", {{"out", std::int64_t{10}}})};
  c.model.loss = choice("loss", "cross_entropy");
  for (std::int64_t row = 0; row + batch <= rows; row += batch) c.windows.push_back(cut.full);
  c.windows.push_back(cut.tail);
  c.precision.storage = storage;
  c.recipe = momentum_recipe();
  Tensor x(storage, {rows, 64}), target(Dtype::i64, {rows});
  for (std::size_t i = 0; i < data.pixels.size(); ++i) x.set(i, data.pixels[i] / 16.0);
  for (std::size_t i = 0; i < data.labels.size(); ++i) target.set(i, data.labels[i]);
  c.tensors = {{"x", x}, {"target", target}};
  fill_linear(c, "fc1", 32, 64, 1);
  fill_linear(c, "fc2", 10, 32, 3);
  draw_into(c, "norm1.weight", Dtype::fp32, {32}, "ones", 5);
  draw_into(c, "norm1.bias", Dtype::fp32, {32}, "zeros", 6);
  if (batch_norm) {
    draw_into(c, "norm1.running_mean", Dtype::fp32, {32}, "zeros", 7);
    draw_into(c, "norm1.running_var", Dtype::fp32, {32}, "ones", 8);
  }
  return c;
}

Case tutorial_case(const BatchCut& cut, Dtype storage) {
  Case c;
  c.model.input = 100;
  c.model.layers = {layer("linear", "fc1", {{"out", std::int64_t{500}}}), layer("relu"),
                    layer("linear", "fc2", {{"out", std::int64_t{10}}})};
  c.model.loss = choice("loss", "cross_entropy");
  c.windows = {cut.full};
  c.precision.storage = storage;
  c.recipe = {choice("optimizer", "adam"), choice("learning_rate", "constant", {{"base", Decimal{"0.001"}}}),
              choice("weight_decay", "none"), choice("clip", "none"),
              storage == Dtype::fp32 ? choice("loss_scale", "none")
                                     : choice("loss_scale", "dynamic", {{"initial", Decimal{"1024"}}})};
  // Drawn in fp16, so that every precision trains on the same numbers and shares one exact trajectory.
  Tensor narrow(Dtype::fp16, {batch, 100}), x(storage, {batch, 100});
  draw(narrow, Drawing{1, 11, "normal"});
  for (std::size_t i = 0; i < x.elements(); ++i) x.set(i, narrow.value(i));
  c.tensors.emplace("x", std::move(x));
  draw_into(c, "target", Dtype::i64, {batch}, "classes:10", 12);
  fill_linear(c, "fc1", 500, 100, 13);
  fill_linear(c, "fc2", 10, 500, 15);
  return c;
}

}  // namespace

Case training_case(const TrainingProblem& problem, const BatchCut& cut, Dtype storage) {
  Case c = problem.dataset == "digits" ? digits_case(problem, cut, storage) : tutorial_case(cut, storage);
  c.name = problem.title + ", " + cut.name;
  if (const auto errors = validate(c); !errors.empty()) {
    throw std::logic_error(c.name + ": " + errors[0].path + ": found " + errors[0].found + ", expected " +
                           errors[0].expected);
  }
  return c;
}

}  // namespace tally
