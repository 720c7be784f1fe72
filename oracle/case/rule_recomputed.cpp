#include <algorithm>

#include "oracle/case/json.hpp"
#include "oracle/case/rules.hpp"

namespace tally {

/// Layers that run again in backward are layers of the model, each named once.
void check_recomputed(const Case& c, Findings& findings) {
  const std::vector<std::string>& named = c.execution.recomputed;
  if (named.empty() || c.model.layers.empty()) return;
  if (!c.execution.recompute)
    findings.add_broken("$.execution.recompute", "false beside a list of layers", "true beside one");
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) labels.push_back(label_of(c.model, i));
  for (std::size_t i = 0; i < named.size(); ++i) {
    const std::string path = element_path("$.execution.recompute", i);
    const auto here = named.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::ranges::find(labels, named[i]) == labels.end())
      findings.add(path, json_string(named[i]), "the label of a layer, such as " + json_string(labels.front()));
    else if (std::find(named.begin(), here, named[i]) != here)
      findings.add(path, json_string(named[i]) + " again", "each layer once");
  }
}

}  // namespace tally
