// Coverage of layers: adapters, residual models, batch normalisation, rotary positions.
#include <algorithm>
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/campaign/coverage/coverage_point.hpp"
#include "properties/generators/blocks.hpp"

// What stands still, and what trains beside it.
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
    return l.kind == kinds::linear && l.name.ends_with("_a") && l.integer("out") > 1 && adapts(s);
  });
}
bool drops_its_input(const Sight& s) {
  return adapts(s) && std::ranges::any_of(s.c.model.layers, [](const Layer& l) {
           return l.kind == kinds::dropout && l.name.ends_with("_drop");
         });
}
bool zero_b(const Sight& s) {
  for (const std::string& name : adapted_layers(s.c.model)) {
    const Tensor& b = s.c.tensors.at(name + "_b.weight");
    if (std::ranges::all_of(b.bytes, [](auto byte) { return static_cast<unsigned char>(byte) == 0; })) return true;
  }
  return false;
}

const Register<TriggerGroup> registered{
    {14,
     "adapters",
     {{"frozen layer with a gradient that goes through it", TriggerKind::of_case, "", passes_through},
      {"frozen layer that no gradient reaches", TriggerKind::of_case, "", is_not_reached},
      {"adapter of a rank above 1", TriggerKind::of_case, "", several_ranks},
      {"adapter with dropout on its input", TriggerKind::of_case, "the frozen layer reads the whole input",
       drops_its_input},
      {"adapter whose B is 0", TriggerKind::of_case, "A has no gradient", zero_b}}}};

}  // namespace
}  // namespace tally::adapters_trigger

// Models whose layers read others than the one before.
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
  return s.any_layer([](const Layer& l) { return l.kind == kinds::add && l.inputs.size() == 2; });
}
bool sum_of_more(const Sight& s) {
  return s.any_layer([](const Layer& l) { return l.kind == kinds::add && l.inputs.size() > 2; });
}

bool some_run_again(const Sight& s) { return s.c.execution.recompute && !s.c.execution.recomputed.empty(); }

const Register<TriggerGroup> registered{
    {10,
     "graph",
     {{"fork of two readers", TriggerKind::of_case, "an output is read twice, and its gradient is a sum", of_two},
      {"fork of three readers or more", TriggerKind::of_case, "that sum adds to what it left before", of_more},
      {"some layers run again", TriggerKind::of_run, "in backward; the outputs of others are kept", some_run_again},
      {"sum of two layers", TriggerKind::of_case, "", sum_of_two},
      {"sum of three layers or more", TriggerKind::of_case, "its sums are stored on the way", sum_of_more}}}};

}  // namespace
}  // namespace tally::graph_trigger

namespace tally::batch_norm_trigger {
namespace {

template <char first>
bool statistics(const Sight& s) {
  return s.any_layer(
      [](const Layer& l) { return l.kind == kinds::batch_norm && l.text("statistics").front() == first; });
}
bool moving(const Sight& s) { return statistics<'m'>(s) || statistics<'w'>(s); }
bool any_window(const Sight& s, bool (*holds)(const std::vector<std::int64_t>&)) {
  return std::any_of(s.c.windows.begin(), s.c.windows.end(), holds);
}
bool one_micro_batch(const Sight& s) {
  return moving(s) && any_window(s, [](const auto& window) { return window.size() == 1; });
}
bool unequal(const Sight& s) {
  return moving(s) && any_window(s, [](const auto& window) {
           return std::any_of(window.begin(), window.end(), [&](std::int64_t rows) { return rows != window[0]; });
         });
}
template <std::int64_t rows>
bool micro_batch_of(const Sight& s) {
  return moving(s) && any_window(s, [](const auto& window) {
           return std::find(window.begin(), window.end(), rows) != window.end();
         });
}

/// |mean| times 1/std, from the taps of the forward pass.
bool far_mean(const Sight& s) {
  for (const Tap& tap : s.trace.taps()) {
    if (tap.name.stage != StageName::forward || !tap.name.tensor.ends_with(".mean")) continue;
    TapName other = tap.name;
    other.tensor.replace(other.tensor.size() - 4, 4, "rstd");
    const Tensor* rstd = s.trace.find(other.view());
    for (std::size_t i = 0; rstd && i < tap.value.elements(); ++i) {
      if (std::fabs(tap.value.value(i)) * rstd->value(i) > 100) return true;
    }
  }
  return false;
}
/// Below the default of the format.
bool small_eps(const Sight& s) {
  const std::vector<Option>& options = find_contract("layer", "batch_norm")->options;
  const auto eps = std::find_if(options.begin(), options.end(), [](const Option& o) { return o.name == "eps"; });
  const double usual = std::get<Decimal>(*eps->standard).to_double();
  return s.any_layer(
      [&](const Layer& l) { return l.kind == kinds::batch_norm && l.number("eps").to_double() < usual; });
}
bool recomputed(const Sight& s) { return s.c.execution.recompute && moving(s); }

const Register<TriggerGroup> registered{
    {6,
     "batch_norm",
     {{"micro_batch statistics", TriggerKind::of_case, "", statistics<'m'>},
      {"window statistics", TriggerKind::of_case, "", statistics<'w'>},
      {"frozen statistics", TriggerKind::of_case, "", statistics<'f'>},
      {"batch_norm, K = 1", TriggerKind::of_case, "the control: nothing is cut", one_micro_batch},
      {"batch_norm, unequal rows", TriggerKind::of_case, "within a window", unequal},
      {"batch_norm of two rows", TriggerKind::of_case, "", micro_batch_of<2>},
      {"batch_norm of one row", TriggerKind::of_case, "a micro-batch of it, with window statistics", micro_batch_of<1>},
      {"mean far from zero", TriggerKind::of_case, "|mean| above 100 standard deviations", far_mean},
      {"eps below 1e-5", TriggerKind::of_case, "", small_eps},
      {"recomputation", TriggerKind::of_run, "the forward pass runs again, running statistics once", recomputed},
      {"evaluated after training", TriggerKind::of_run, "a trained model with batch_norm classifies a test set",
       nullptr}}}};

}  // namespace
}  // namespace tally::batch_norm_trigger

// Rotary positions: which features turn, in which pairs, and how far.
namespace tally::rotary_trigger {
namespace {

bool is_rotary(const Layer& l) { return l.kind == kinds::rotary; }
bool is_slice(const Layer& l) { return l.kind == kinds::slice; }

template <class Holds>
bool any_rotary(const Sight& s, Holds holds) {
  return std::ranges::any_of(s.c.model.layers, [&](const Layer& l) { return is_rotary(l) && holds(l); });
}

bool from_position(const Sight& s, std::int64_t least) {
  if (!s.any_layer(is_rotary)) return false;
  const Tensor positions = positions_of(s.c);
  for (std::size_t i = 0; i < positions.elements(); ++i)
    if (positions.integer(i) >= least) return true;
  return false;
}

bool turns(const Sight& s) { return from_position(s, 1); }
bool from_50(const Sight& s) { return from_position(s, 50); }
bool from_2048(const Sight& s) { return from_position(s, 2048); }
bool from_65536(const Sight& s) { return from_position(s, 65536); }
bool interleaves(const Sight& s) {
  return any_rotary(s, [](const Layer& l) { return l.text("pairing") == "interleaved"; });
}
bool turns_a_part(const Sight& s) {
  return any_rotary(s, [](const Layer& l) { return l.integer("dimensions") > 0; });
}
bool several_heads(const Sight& s) {
  return any_rotary(s, [](const Layer& l) { return l.integer("heads") > 1; });
}
bool slices(const Sight& s) { return s.any_layer(is_slice); }

const Register<TriggerGroup> registered{
    {13,
     "rotary",
     {{"pairs that turn", TriggerKind::of_case, "", turns},
      {"position of 50 and more", TriggerKind::of_case, "a frequency in bf16 shows", from_50},
      {"position of 2048 and more", TriggerKind::of_case, "", from_2048},
      {"position of 65536 and more", TriggerKind::of_case, "an angle in fp32 is off", from_65536},
      {"interleaved pairs", TriggerKind::of_case, "", interleaves},
      {"features that do not turn", TriggerKind::of_case, "", turns_a_part},
      {"several heads that turn", TriggerKind::of_case, "", several_heads},
      {"q, k and v as slices of one product", TriggerKind::of_case, "", slices}}}};

}  // namespace
}  // namespace tally::rotary_trigger
