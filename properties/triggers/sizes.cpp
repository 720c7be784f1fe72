// Sizes that no kernel's launch knows by itself; how they fall into warps, blocks and strides is counted by kernel
// (properties/triggers/reach.hpp).
#include <algorithm>

#include "properties/triggers/trigger.hpp"

namespace tally::sizes_trigger {
namespace {

/// Features of any layer, or rows of any micro-batch.
bool any_size(const Sight& s, bool (*holds)(std::int64_t)) {
  for (std::size_t i = 0; i <= s.c.model.layers.size(); ++i) {
    if (holds(features_before(s.c.model, i))) return true;
  }
  return std::any_of(s.c.windows.begin(), s.c.windows.end(),
                     [&](const auto& window) { return std::any_of(window.begin(), window.end(), holds); });
}
bool no_vector(const Sight& s) {
  return any_size(s, [](std::int64_t n) { return n > 4 && n % 4 != 0; });
}
bool one_element(const Sight& s) {
  for (const std::string& parameter : parameters_of(s.c.model)) {
    if (s.c.tensors.at(parameter).elements() == 1) return true;
  }
  return false;
}
bool beyond_the_grid(const Sight& s) {
  return any_size(s, [](std::int64_t n) { return n > 65535; });
}

const RegisterTriggers registered{
    8,
    "sizes",
    {{"no multiple of a vector", TriggerKind::of_case, "more than 4 and no multiple of 4", no_vector},
     {"one element", TriggerKind::of_case, "a parameter of a single element", one_element},
     {"more than 65,535 rows", TriggerKind::of_kernel, "a grid's limit in its second dimension", beyond_the_grid},
     {"no element", TriggerKind::of_kernel, "a kernel called on an empty tensor", nullptr},
     {"index above 2^31", TriggerKind::later, "a tensor of that size takes more memory than a test has", nullptr}}};

}  // namespace
}  // namespace tally::sizes_trigger
