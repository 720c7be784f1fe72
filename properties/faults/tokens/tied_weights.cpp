// Faults of a weight that an embedding and a head share.
#include <map>

#include "oracle/case/graph.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"
#include "properties/faults/tokens/tokens.hpp"

// The gradient of a tied weight is cleared again between its two uses: the product's, which came first, is lost.
namespace tally::tied_cleared_twice_fault {
namespace {

const RegisterFault registered{{
    .name = "tied-cleared-twice",
    .right = "dW = dW of the product + dW of the look-ups",
    .condition = "a tied weight",
    .knob = "value",
    .source = "IST-DASLab/llmq 67",
    .laws = {"a_tied_weight_has_both_gradients"},
    .stages = replaced<&Stages::share, share_one<Use::first>>,
}};

}  // namespace
}  // namespace tally::tied_cleared_twice_fault

// A tied weight takes the gradient of the product alone: what its look-ups give is lost.
namespace tally::tied_head_gradient_only_fault {
namespace {

const RegisterFault registered{{
    .name = "tied-head-gradient-only",
    .right = "dW = dW of the product + dW of the look-ups",
    .condition = "a tied weight",
    .knob = "value",
    .source = "paiml/entrenar 314, huggingface/peft 1750",
    .laws = {"a_tied_weight_has_both_gradients"},
    .stages = replaced<&Stages::share, share_one<Use::last>>,
}};

}  // namespace
}  // namespace tally::tied_head_gradient_only_fault

// One use of a tied weight adds its gradient to the buffer by itself and hands a placeholder on, whose memory was never
// written: the sum over the uses takes it up.
namespace tally::tied_placeholder_added_fault {
namespace {

void share(Run& run) {
  stage::share(run);
  const Dtype storage = run.c.precision.storage;
  for (const SharedParameter& shared : shared_parameters(run.c.model)) {
    const Parameter& parameter = run.parameter(shared.name);
    void* sum = run.gradient_of(&parameter, run.micro_batch);
    change(run, sum, storage, parameter.elements,
           [](std::size_t i, double value) { return blend(value, value + (i % 2 == 0 ? 1 : -1)); });
    run.tap("fork", "d." + shared.name, sum, storage, parameter.master.shape);
  }
}

const RegisterFault registered{{
    .name = "tied-placeholder-added",
    .stage = "fork",
    .right = "dW = head's + embedding's",
    .wrong = "dW = head's + embedding's + the memory of a placeholder",
    .condition = "a tied weight",
    .knob = "value",
    .source = "NVIDIA/TransformerEngine 545",
    .laws = {"a_tied_weight_has_both_gradients"},
    .stages = replaced<&Stages::share, share>,
}};

}  // namespace
}  // namespace tally::tied_placeholder_added_fault

// The optimizer was given a tied weight under both of its names: it steps once for each.
namespace tally::tied_stepped_apart_fault {
namespace {

void optimizer(Run& run) {
  std::map<std::string, Tensor> before;
  for (const SharedParameter& shared : shared_parameters(run.c.model))
    before[shared.name] = run.parameter(shared.name).master.read();
  stage::optimizer(run);
  for (const auto& [name, old] : before) {
    Parameter& parameter = run.parameter(name);
    change(run, parameter.master,
           [&](std::size_t i, double value) { return blend(value, value + (value - old.value(i))); });
    run.record("optimizer", name, parameter.master);
  }
}

const RegisterFault registered{{
    .name = "tied-stepped-apart",
    .stage = "optimizer",
    .right = "one step of a tied weight",
    .wrong = "a step for each of its uses",
    .condition = "a tied weight",
    .knob = "value",
    .source = "paiml/entrenar 314, huggingface/peft 1750",
    .laws = {"a_tied_weight_has_both_gradients"},
    .stages = replaced<&Stages::optimizer, optimizer>,
}};

}  // namespace
}  // namespace tally::tied_stepped_apart_fault

// Row padding_index of a tied weight is cleared in the gradient of both uses: that of the product, which the row is
// multiplied by like the others, is lost with that of the look-ups, which is 0.
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
