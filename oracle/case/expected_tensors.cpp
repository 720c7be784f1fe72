#include "oracle/case/expected_tensors.hpp"

#include "oracle/case/kinds.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "oracle/case/pairs.hpp"

namespace tally {
namespace {

using Expected = std::map<std::string, ExpectedTensor>;

void add_layers(const Case& c, Expected& expected) {
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    const std::int64_t features = features_before(c.model, i);
    for (const LayerTensor& tensor : tensors_of(layer)) {
      const std::vector<std::int64_t> shape = shape_in(c, tensor, layer, features);
      const Dtype dtype = tensor.role == Role::mask ? Dtype::u8 : c.precision.master;
      expected.insert_or_assign(layer.name + "." + tensor.name, ExpectedTensor{dtype, shape, true});
    }
  }
}

void add_batch(const Case& c, std::int64_t rows, Expected& expected) {
  const std::int64_t outputs = features_before(c.model, c.model.layers.size());
  if (c.model.tokens)
    expected.insert_or_assign("tokens", ExpectedTensor{Dtype::i64, {rows}, true});
  else
    expected.insert_or_assign("x", ExpectedTensor{c.precision.storage, {rows, c.model.input}, c.model.input > 0});
  if (reads_positions(c.model)) expected.insert_or_assign("positions", ExpectedTensor{Dtype::i64, {rows}, false});
  const Choice& loss = c.model.loss;
  if (is_opaque(loss)) return;
  if (has_class_targets(loss))
    expected.insert_or_assign("target", ExpectedTensor{Dtype::i64, {rows}, true});
  else
    expected.insert_or_assign("target", ExpectedTensor{c.precision.storage, {rows, outputs}, true});
  if (loss.options.contains("item_weights") && loss.flag("item_weights"))
    expected.insert_or_assign("item_weight", ExpectedTensor{Dtype::i64, {rows}, true});
}

}  // namespace

std::int64_t rows_of(const Case& c) {
  std::int64_t rows = 0;
  for (const auto& window : c.windows)
    for (const std::int64_t size : window) rows += size;
  return rows;
}

bool has_rows(const std::string& tensor) {
  for (const char* name : {"x", "tokens", "positions", "target", "item_weight"})
    if (tensor == name) return true;
  return tensor.ends_with(".mask");
}

std::map<std::string, ExpectedTensor> expected_tensors(const Case& c) {
  Expected expected;
  const std::int64_t rows = rows_of(c);
  add_batch(c, rows, expected);
  add_layers(c, expected);
  for (const std::string& parameter : parameters_of(c.model))
    for (const StateTensor* state : state_of(c.recipe.optimizer))
      expected.insert_or_assign(state->name + "." + parameter,
                                ExpectedTensor{c.precision.master, expected.at(parameter).shape, false});
  expected.insert_or_assign("step", ExpectedTensor{Dtype::i64, {}, false});
  return expected;
}

}  // namespace tally
