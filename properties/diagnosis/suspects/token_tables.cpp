// Suspects of models over tokens: what becomes of the gradient of a table.
#include "oracle/case/graph.hpp"
#include "oracle/layers/contract.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally::token_tables_suspect {
namespace {

// The gradient of a row is that of the last token alone.
namespace last_occurrence {

/// The layer whose table's gradient this is; nullopt: none.
std::optional<std::size_t> table_of(const Evidence& evidence, const HeldTensor& held) {
  const Model& model = evidence.c.model;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Contract& contract = contract_of("layer", model.layers[i]);
    if (!looks_up(contract)) continue;
    if (held.name.tensor == gradient_name(model, i, "weight")) return i;
  }
  return std::nullopt;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = table_of(evidence, held);
  if (!layer) return std::nullopt;
  const bool by_token = contract_of("layer", evidence.c.model.layers[*layer]).reads_tokens;
  const auto read = [&](const std::string& tensor) {
    return evidence.tap(held.name.window, held.name.micro_batch, "backward", "in." + tensor);
  };
  const auto index = read(by_token ? "tokens" : "positions");
  const auto dy = read("d." + label_of(evidence.c.model, *layer) + ".y");
  if (!index || !dy || index->empty()) return std::nullopt;
  const std::size_t width = dy->size() / index->size();
  Values last(held.expected.size(), 0.0);
  for (std::size_t row = 0; row < index->size(); ++row)
    for (std::size_t column = 0; column < width; ++column)
      if (const std::size_t place = static_cast<std::size_t>((*index)[row]) * width + column; place < last.size())
        last[place] = (*dy)[row * width + column];
  return last;
}

const RegisterSuspect registered{{
    .name = "embedding-last-occurrence",
    .faults = {"embedding-last-occurrence"},
    .stages = {"backward"},
    .sentence = "of several rows with one token the last one's gradient is stored, and none is added",
    .formula = "dW_t = dy of the last row of t",
    .remedy = "add the gradients of all rows with one token: `index_add_`, not an assignment by index",
    .left = left,
}};

}  // namespace last_occurrence

/// What one of the layers that share the weight gave for it, in the order of execution.
std::optional<Values> given_by(const Evidence& evidence, const HeldTensor& held, bool first) {
  for (const SharedParameter& shared : shared_parameters(evidence.c.model)) {
    if (held.name.tensor != "d." + shared.name) continue;
    const std::size_t user = first ? shared.users.front() : shared.users.back();
    return evidence.tap(held.name.window, held.name.micro_batch, "fork",
                        "in." + gradient_name(evidence.c.model, user, "weight"));
  }
  return std::nullopt;
}

// A tied weight takes the gradient of its product alone.
namespace product_alone {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) { return given_by(evidence, held, false); }

const RegisterSuspect registered{{
    .name = "tied-head-gradient-only",
    .faults = {"tied-head-gradient-only"},
    .stages = {"fork"},
    .sentence = "a tied weight takes what its product gives, and nothing of what is looked up",
    .formula = "dW = dW of the product",
    .remedy = "add what the look-up gives to the tied weight's gradient",
    .left = left,
}};

}  // namespace product_alone

// A tied weight takes the gradient of its look-ups alone.
namespace look_ups_alone {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) { return given_by(evidence, held, true); }

const RegisterSuspect registered{{
    .name = "tied-cleared-twice",
    .faults = {"tied-cleared-twice"},
    .stages = {"fork"},
    .sentence = "a tied weight takes what is looked up alone: what its product gave is cleared before it is added",
    .formula = "dW = dW of the look-ups",
    .remedy = "add both gradients of the tied weight: clear it before the first alone",
    .left = left,
}};

}  // namespace look_ups_alone

}  // namespace
}  // namespace tally::token_tables_suspect
