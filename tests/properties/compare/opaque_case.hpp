// The built-in subject's run of a case, seen as a recorder sees an unknown network: one opaque layer, whose outputs and
// gradients are given.
#pragma once

#include <string>

#include "kernels/trace/trace.hpp"
#include "oracle/case/contract.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally {

/// The full name of a parameter within the opaque layer "model".
inline std::string within_model(const std::string& parameter) { return "model." + parameter; }

/// `known` with its layers as one: the same batch, recipe and parameters.
inline Case opaque_of(const Case& known) {
  Case c = known;
  Shapes shapes;
  for (const std::string& p : parameters_of(known.model)) shapes[p] = known.tensors.at(p).shape;
  Layer all = layer_of("opaque", "model", {{"tensors", shapes}});
  all.options["out"] = features_before(known.model, known.model.layers.size());
  c.model.layers = {all};
  c.model.input = 0;
  c.tensors.clear();
  for (const char* name : {"target", "item_weight", "step"})
    if (const auto found = known.tensors.find(name); found != known.tensors.end()) c.tensors.insert(*found);
  for (const std::string& p : parameters_of(known.model)) {
    c.tensors[within_model(p)] = known.tensors.at(p);
    for (const StateTensor* state : state_of(known.recipe.optimizer))
      if (const auto found = known.tensors.find(state->name + "." + p); found != known.tensors.end())
        c.tensors[state->name + "." + within_model(p)] = found->second;
  }
  return c;
}

/// The taps that are left: no forward and no backward but the gradients, under their names within the model.
inline Trace opaque_of(const Case& known, const Trace& trace) {
  Trace some;
  some.claims = trace.claims;
  const std::vector<std::string> parameters = parameters_of(known.model);
  for (const Tap& tap : trace.taps()) {
    TapName name = tap.name;
    const bool of_model = name.stage == "cast" || name.stage == "forward" || name.stage == "running_stats";
    if (of_model || (name.stage == "backward" && name.tensor.starts_with("in."))) continue;
    bool is_parameter = false;
    for (const std::string& p : parameters) {
      if (is_parameter || !name.tensor.ends_with(p)) continue;
      const std::size_t at = name.tensor.size() - p.size();
      if (at != 0 && name.tensor[at - 1] != '.') continue;
      name.tensor.insert(at, "model.");
      is_parameter = true;
    }
    if (name.stage == "backward" && !is_parameter) continue;  // between layers
    some.add(name, tap.value);
  }
  return some;
}

}  // namespace tally
