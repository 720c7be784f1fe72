// What stands still, and what trains beside it.
#include "properties/generators/adapters.hpp"

#include <algorithm>

#include "oracle/case/graph.hpp"
#include "properties/triggers/trigger.hpp"

namespace tally::adapters_trigger {
namespace {

bool adapts(const Sight& s) { return !adapted_layers(s.c.model).empty(); }

bool is_frozen(const Layer& l) { return !l.trainable; }
bool freezes(const Sight& s) { return s.any_layer(is_frozen); }

/// A frozen layer that a gradient goes through, and one that none reaches.
bool frozen_where(const Sight& s, bool reached) {
  const Graph graph = graph_of(s.c.model);
  for (std::size_t i = 0; i < graph.reached.size(); ++i)
    if (is_frozen(s.c.model.layers[i]) && graph.reached[i] == reached) return true;
  return false;
}
bool passes_through(const Sight& s) { return freezes(s) && frozen_where(s, true); }
bool is_not_reached(const Sight& s) { return freezes(s) && frozen_where(s, false); }

bool several_ranks(const Sight& s) {
  return std::ranges::any_of(s.c.model.layers, [&](const Layer& l) {
    return l.kind == "linear" && l.name.ends_with("_a") && l.integer("out") > 1 && adapts(s);
  });
}
bool drops_its_input(const Sight& s) {
  return adapts(s) && std::ranges::any_of(s.c.model.layers, [](const Layer& l) {
           return l.kind == "dropout" && l.name.ends_with("_drop");
         });
}
bool zero_b(const Sight& s) {
  for (const std::string& name : adapted_layers(s.c.model)) {
    const Tensor& b = s.c.tensors.at(name + "_b.weight");
    if (std::ranges::all_of(b.bytes, [](auto byte) { return static_cast<unsigned char>(byte) == 0; })) return true;
  }
  return false;
}

const RegisterTriggers registered{
    14,
    "adapters",
    {{"frozen layer with a gradient that goes through it", TriggerKind::of_case, "", passes_through},
     {"frozen layer that no gradient reaches", TriggerKind::of_case, "", is_not_reached},
     {"adapter of a rank above 1", TriggerKind::of_case, "", several_ranks},
     {"adapter with dropout on its input", TriggerKind::of_case, "the frozen layer reads the whole input",
      drops_its_input},
     {"adapter whose B is 0", TriggerKind::of_case, "A has no gradient", zero_b}}};

}  // namespace
}  // namespace tally::adapters_trigger
