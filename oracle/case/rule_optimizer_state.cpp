#include "oracle/case/optimizer_state.hpp"
#include "oracle/case/rules.hpp"

namespace tally {

/// All of the state or none of it: a parameter without a buffer beside others that have one is no state that training
/// passes through.
void check_optimizer_state(const Case& c, Findings& findings) {
  std::vector<std::string> missing;
  std::string present;
  for (const std::string& parameter : parameters_of(c.model))
    for (const StateTensor* state : state_of(c.recipe.optimizer)) {
      const std::string name = state->name + "." + parameter;
      if (c.tensors.contains(name))
        present = name;
      else if (findings.sound(tensor_path(name)))
        missing.push_back(name);
    }
  if (present.empty()) return;
  for (const std::string& name : missing)
    findings.add_broken(tensor_path(name), "nothing", "optimizer state for all parameters, as there is " + present);
  if (counts_steps(c.recipe.optimizer) && !c.tensors.contains("step") && findings.sound(tensor_path("step")))
    findings.add_broken(tensor_path("step"), "nothing", "the steps taken so far, i64 [], as there is " + present);
}

}  // namespace tally
