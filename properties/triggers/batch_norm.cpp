// Batch normalisation.
#include <algorithm>
#include <cmath>

#include "oracle/layers/contract.hpp"
#include "properties/triggers/trigger.hpp"

namespace tally::batch_norm_trigger {
namespace {

template <char first>
bool statistics(const Sight& s) {
  return s.any_layer([](const Layer& l) { return l.kind == "batch_norm" && l.text("statistics").front() == first; });
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
    if (tap.name.stage != "forward" || !tap.name.tensor.ends_with(".mean")) continue;
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
  return s.any_layer([&](const Layer& l) { return l.kind == "batch_norm" && l.number("eps").to_double() < usual; });
}
bool recomputed(const Sight& s) { return s.c.execution.recompute && moving(s); }

const RegisterTriggers registered{
    6,
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
      nullptr}}};

}  // namespace
}  // namespace tally::batch_norm_trigger
