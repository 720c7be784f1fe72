// Row padding_index of a tied weight is cleared in the gradient of both uses: that of the product, which the row is
// multiplied by like the others, is lost with that of the look-ups, which is 0.
#include "oracle/case/graph.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::padding_index_kills_head_fault {
namespace {

/// -1: none.
std::int64_t padding_row(const Run& run, const SharedParameter& shared) {
  for (const std::size_t user : shared.users) {
    const Layer& layer = *run.layers[user].layer;
    if (layer.kind == "embedding") return layer.integer("padding_index");
  }
  return -1;
}

void share(Run& run) {
  stage::share(run);
  const Dtype storage = run.c.precision.storage;
  for (const SharedParameter& shared : shared_parameters(run.c.model)) {
    const Parameter& parameter = run.parameter(shared.name);
    const std::int64_t row = padding_row(run, shared), width = parameter.master.shape.back();
    if (row < 0 || !parameter.trains) continue;
    void* sum = run.gradient_of(&parameter, run.micro_batch);
    change(run, sum, storage, parameter.elements, [&](std::size_t i, double value) {
      return static_cast<std::int64_t>(i) / width == row ? blend(value, 0.0) : value;
    });
    run.tap("fork", "d." + shared.name, sum, storage, parameter.master.shape);
  }
}

const RegisterFault registered{{
    .name = "padding-index-kills-head",
    .stage = "fork",
    .right = "dW = head's + embedding's, whose row padding_index is 0",
    .wrong = "row padding_index of the sum is 0",
    .condition = "a tied weight with a padding_index",
    .knob = "value",
    .source = "source mutation",
    .laws = {"a_tied_weight_has_both_gradients"},
    .stages = replaced<&Stages::share, share>,
}};

}  // namespace
}  // namespace tally::padding_index_kills_head_fault
