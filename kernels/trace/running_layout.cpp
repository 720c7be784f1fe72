#include "kernels/trace/running_layout.hpp"

#include "oracle/case/micro_steps.hpp"
#include "oracle/case/running_values.hpp"

namespace tally::taps {

std::optional<LayerTap> layer_tap(const Place& at) {
  const auto dot = at.rest.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  for (std::size_t i = 0; i < at.c.model.layers.size(); ++i) {
    if (label_of(at.c.model, i) == at.rest.substr(0, dot)) return LayerTap{i, at.rest.substr(dot + 1)};
  }
  return std::nullopt;
}

bool is_batch_norm(const Layer& layer, std::string_view statistics) {
  return layer.kind == "batch_norm" && layer.text("statistics") == statistics;
}

namespace {

/// What ranks begin a window with: the first rank's, handed over by it and held by each.
Layout broadcast_tap(Place at) {
  if (!at.whole_window || at.gradient || !take(at.rest, "broadcast.")) return std::nullopt;
  const auto tap = layer_tap(at);
  if (!tap || !takes_first_running(at.c, at.c.model.layers[tap->layer])) return std::nullopt;
  const bool running = tap->tensor == "running_mean" || tap->tensor == "running_var";
  return at.only_if(running && !(at.input && at.c.rank > 0), at.c.precision.master,
                    {features_before(at.c.model, tap->layer)});
}

}  // namespace

Layout running_stats_tap(const Place& at) {
  if (const Layout broadcast = broadcast_tap(at)) return broadcast;
  const auto tap = layer_tap(at);
  if (!tap || at.gradient) return std::nullopt;
  const Layer& layer = at.c.model.layers[tap->layer];
  const std::int64_t features = features_before(at.c.model, tap->layer);
  const bool moves = is_batch_norm(layer, at.whole_window ? "window" : "micro_batch") ||
                     (!at.whole_window && takes_step_statistics(layer));
  if (!moves) return std::nullopt;
  if (tap->tensor == "running_mean" || tap->tensor == "running_var") {
    return TapLayout{at.c.precision.master, {features}};
  }
  return at.only_if(at.input && (tap->tensor == "mean" || tap->tensor == "var"), Dtype::fp32, {features});
}

}  // namespace tally::taps
