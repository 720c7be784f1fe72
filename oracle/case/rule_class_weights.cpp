#include "oracle/case/rules.hpp"

namespace tally {

void check_class_weights(const Case& c, Findings& findings) {
  if (!c.model.loss.options.contains("weight")) return;
  const std::size_t weights = c.model.loss.numbers("weight").size();
  const std::int64_t classes = features_before(c.model, c.model.layers.size());
  if (weights != 0 && static_cast<std::int64_t>(weights) != classes)
    findings.add("$.model.loss.weight", std::to_string(weights) + " weights",
                 "one for each of the " + std::to_string(classes) + " classes");
}

}  // namespace tally
