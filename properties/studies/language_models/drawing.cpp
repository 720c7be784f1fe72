#include "properties/studies/language_models/drawing.hpp"

#include "properties/generators/choices.hpp"

namespace tally {

executor::Schedule numbers_for(std::uint64_t seed, std::uint64_t number, const std::string& family) {
  std::uint64_t mixed = executor::Schedule(seed).next();
  for (const char letter : family) mixed = executor::Schedule(mixed ^ static_cast<unsigned char>(letter)).next();
  return executor::Schedule(executor::Schedule(mixed ^ (number + 1)).next());
}

Plan plain_plan(Dtype storage, executor::Schedule& random, std::int64_t rows, std::int64_t longest) {
  Plan plan;
  plan.input = 11;
  plan.tokens = {.width = 8, .longest = longest};
  plan.outputs = 5;
  plan.windows = {{rows}};
  plan.loss = choice("loss", "cross_entropy");
  plan.precision.storage = storage;
  plan.recipe = {choice("optimizer", "sgd"), choice("learning_rate", "constant", {{"base", Decimal{"0.05"}}}),
                 choice("weight_decay", "none"), choice("clip", "none"),
                 choice("loss_scale", "static", {{"scale", Decimal{"64"}}})};
  plan.seed = random.next() >> 12;  // tokens hold integers below 2^53
  return plan;
}

Layer reading(Layer layer, std::vector<std::string> inputs) {
  layer.inputs = std::move(inputs);
  return layer;
}

void move_table(Case& c, double factor, double shift) {
  if (factor == 1 && shift == 0) return;
  Tensor& table = c.tensors.at("wte.weight");
  for (std::size_t i = 0; i < table.elements(); ++i) table.set(i, factor * table.value(i) + shift);
  table.drawing.reset();
}

}  // namespace tally
