#include "kernels/trace/step_layout.hpp"

#include <algorithm>

#include "oracle/case/micro_steps.hpp"

namespace tally::taps {
namespace {

bool travels(const Case& c, std::string_view tensor) {
  const StepStatistics by = step_statistics_of(c);
  const std::vector<std::string> names = step_tensors(by);
  return std::ranges::count(names, tensor) > 0 || (by == StepStatistics::two_pass && tensor == "squares");
}

bool is_gradient_sum(std::string_view tensor) { return tensor == "sum_dy" || tensor == "sum_dy_h"; }

Layout of_features(const Place& at, const LayerTap& tap, bool is_there) {
  return at.only_if(is_there && !at.whole_window, Dtype::fp32, {features_before(at.c.model, tap.layer)});
}

bool pools(const Place& at, const LayerTap& tap) { return pools_steps(at.c, at.c.model.layers[tap.layer]); }

}  // namespace

Layout own_statistics_tap(const Place& at, const LayerTap& tap) {
  return of_features(at, tap, pools(at, tap) && !at.input && travels(at.c, tap.tensor));
}

Layout own_gradient_sums_tap(const Place& at, const LayerTap& tap) {
  return of_features(at, tap, pools(at, tap) && !at.input && !at.gradient && is_gradient_sum(tap.tensor));
}

Layout sync_statistics_tap(const Place& at) {
  const auto tap = layer_tap(at);
  if (!tap || at.gradient || at.whole_window || !pools(at, *tap)) return std::nullopt;
  if (tap->tensor == "count") return TapLayout{Dtype::i64, {}};
  const bool statistic = tap->tensor == "mean" || tap->tensor == "var" || tap->tensor == "rstd";
  const bool known = at.input ? travels(at.c, tap->tensor) : statistic;
  return of_features(at, *tap, known || is_gradient_sum(tap->tensor));
}

}  // namespace tally::taps
