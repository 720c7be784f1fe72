#include "kernels/trace/loss_layout.hpp"

#include "oracle/case/kinds.hpp"

namespace tally::taps {

Layout loss_tap(const Place& at) {
  const std::int64_t features = features_before(at.c.model, at.c.model.layers.size());
  if (at.whole_window) return std::nullopt;
  if (at.rest == "y") return at.only_if(at.input != at.gradient, at.c.precision.storage, {at.rows, features});
  if (at.gradient) return std::nullopt;
  if (at.rest == "factor") return at.only_if(at.input, Dtype::fp32, {});
  if (at.rest == "loss") return at.only_if(!at.input, Dtype::fp32, {at.rows});
  if (at.rest != "target" || !at.input || is_opaque(at.c.model.loss)) return std::nullopt;
  if (has_class_targets(at.c.model.loss)) return TapLayout{Dtype::i64, {at.rows}};
  return TapLayout{at.c.precision.storage, {at.rows, features}};
}

}  // namespace tally::taps
