// Models whose layers read others than the one before.
#include "oracle/case/graph.hpp"

#include "properties/triggers/trigger.hpp"

namespace tally::graph_trigger {
namespace {

/// Some output is read by at least and at most so many layers, and a gradient reaches it.
bool forks(const Sight& s, std::size_t least, std::size_t most) {
  const Graph graph = graph_of(s.c.model);
  for (std::size_t i = 0; i < graph.reached.size(); ++i) {
    const std::size_t readers = graph.readers[i].size();
    if (graph.reached[i] && readers >= least && readers <= most) return true;
  }
  return false;
}
bool of_two(const Sight& s) { return forks(s, 2, 2); }
bool of_more(const Sight& s) { return forks(s, 3, static_cast<std::size_t>(-1)); }

bool sum_of_two(const Sight& s) {
  return s.any_layer([](const Layer& l) { return l.kind == "add" && l.inputs.size() == 2; });
}
bool sum_of_more(const Sight& s) {
  return s.any_layer([](const Layer& l) { return l.kind == "add" && l.inputs.size() > 2; });
}

bool some_run_again(const Sight& s) { return s.c.execution.recompute && !s.c.execution.recomputed.empty(); }

const RegisterTriggers registered{
    10,
    "graph",
    {{"fork of two readers", TriggerKind::of_case, "an output is read twice, and its gradient is a sum", of_two},
     {"fork of three readers or more", TriggerKind::of_case, "that sum adds to what it left before", of_more},
     {"some layers run again", TriggerKind::of_run, "in backward; the outputs of others are kept", some_run_again},
     {"sum of two layers", TriggerKind::of_case, "", sum_of_two},
     {"sum of three layers or more", TriggerKind::of_case, "its sums are stored on the way", sum_of_more}}};

}  // namespace
}  // namespace tally::graph_trigger
