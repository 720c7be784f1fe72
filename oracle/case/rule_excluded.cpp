#include <algorithm>

#include "oracle/case/json.hpp"
#include "oracle/case/rules.hpp"

namespace tally {

/// Parameters that are named in full must be the model's.
void check_excluded(const Case& c, Findings& findings) {
  const auto found = c.recipe.weight_decay.options.find("exclude");
  if (found == c.recipe.weight_decay.options.end()) return;
  const std::vector<std::string>& excluded = c.recipe.weight_decay.texts("exclude");
  const std::vector<std::string> parameters = weights_of(c.model);
  for (std::size_t i = 0; i < excluded.size(); ++i) {
    const bool full = excluded[i].find('.') != std::string::npos;
    if (full && std::find(parameters.begin(), parameters.end(), excluded[i]) == parameters.end())
      findings.add(element_path("$.recipe.weight_decay.exclude", i), json_string(excluded[i]),
                   "\"bias\", \"norm\", \"embedding\" or a parameter of the model, such as " +
                       json_string(parameters.empty() ? "fc1.weight" : parameters.front()));
  }
}

}  // namespace tally
