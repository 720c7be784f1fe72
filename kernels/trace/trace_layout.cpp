#include "kernels/trace/trace_layout.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "kernels/trace/fork_layout.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

using Layout = std::optional<TapLayout>;
using Shape = std::vector<std::int64_t>;

/// A tap name taken apart: `[in.][d.]<subject>`, and where it stands.
struct Place {
  const Case& c;
  const std::vector<std::string>& parameters;
  std::int64_t rows;  // of the micro-batch; 0 for the window's stages
  bool whole_window, input, gradient;
  std::string_view rest;

  Layout only_if(bool allowed, Dtype dtype, Shape shape) const {
    return allowed ? Layout{TapLayout{dtype, std::move(shape)}} : std::nullopt;
  }
  const Shape* parameter() const {
    for (const auto& name : parameters) {
      if (name == rest) return &c.tensors.at(name).shape;
    }
    return nullptr;
  }
};

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// `<L>.<tensor>` of a layer: its index and the tensor's short name.
struct LayerTap {
  std::size_t layer;
  std::string_view tensor;
};
std::optional<LayerTap> layer_tap(const Place& at) {
  const auto dot = at.rest.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  for (std::size_t i = 0; i < at.c.model.layers.size(); ++i) {
    if (label_of(at.c.model, i) == at.rest.substr(0, dot)) return LayerTap{i, at.rest.substr(dot + 1)};
  }
  return std::nullopt;
}

bool hands_gradient_on(const Layer& layer) { return contract_of("layer", layer).hands_gradient_on; }

/// Whether the tensor is one that the layer reads from others: "x", "x0".
bool is_read(const Place& at, const LayerTap& tap) {
  return input_called(at.c.model, tap.layer, tap.tensor).has_value();
}

bool is_batch_norm(const Layer& layer, std::string_view statistics) {
  return layer.kind == "batch_norm" && layer.text("statistics") == statistics;
}

Layout cast_tap(const Place& at) {
  const Shape* shape = at.parameter();
  if (shape == nullptr || !at.whole_window || at.gradient) return std::nullopt;
  return TapLayout{at.input ? at.c.precision.master : at.c.precision.storage, *shape};
}

Layout statistics_tap(const Place& at, const Layer& layer, std::string_view tensor, std::int64_t features) {
  if (layer.kind == "layer_norm") return at.only_if(tensor != "var" && !at.whole_window, Dtype::fp32, {at.rows});
  const bool lockstep = is_batch_norm(layer, "window");
  return at.only_if(layer.kind == "batch_norm" && at.whole_window == lockstep, Dtype::fp32, {features});
}

Layout forward_tap(const Place& at) {
  if (at.gradient) return std::nullopt;
  if (const Shape* shape = at.parameter()) {
    return at.only_if(at.input && !at.whole_window, at.c.precision.storage, *shape);
  }
  const auto tap = layer_tap(at);
  if (!tap) return std::nullopt;
  const Layer& layer = at.c.model.layers[tap->layer];
  const std::int64_t in = features_before(at.c.model, tap->layer);
  const std::int64_t out = features_after(at.c.model, tap->layer);
  const bool each = !at.whole_window;
  if (is_read(at, *tap)) return at.only_if(at.input && each, at.c.precision.storage, {at.rows, in});
  if (tap->tensor == "y") return at.only_if(!at.input && each, at.c.precision.storage, {at.rows, out});
  if (tap->tensor == "mask") return at.only_if(at.input && each && layer.kind == "dropout", Dtype::u8, {at.rows, in});
  if (tap->tensor == "running_mean" || tap->tensor == "running_var") {
    return at.only_if(at.input && each && is_batch_norm(layer, "frozen"), at.c.precision.master, {in});
  }
  const bool statistic = tap->tensor == "mean" || tap->tensor == "var" || tap->tensor == "rstd";
  return statistic && !at.input ? statistics_tap(at, layer, tap->tensor, in) : std::nullopt;
}

Layout running_stats_tap(const Place& at) {
  const auto tap = layer_tap(at);
  if (!tap || at.gradient) return std::nullopt;
  const Layer& layer = at.c.model.layers[tap->layer];
  const std::int64_t features = features_before(at.c.model, tap->layer);
  if (!is_batch_norm(layer, at.whole_window ? "window" : "micro_batch")) return std::nullopt;
  if (tap->tensor == "running_mean" || tap->tensor == "running_var") {
    return TapLayout{at.c.precision.master, {features}};
  }
  return at.only_if(at.input && (tap->tensor == "mean" || tap->tensor == "var"), Dtype::fp32, {features});
}

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

Layout backward_tap(const Place& at) {
  if (at.whole_window) return std::nullopt;
  if (const Shape* shape = at.parameter()) return at.only_if(at.input != at.gradient, at.c.precision.storage, *shape);
  const auto tap = layer_tap(at);
  if (!tap || hands_gradient_on(at.c.model.layers[tap->layer])) return std::nullopt;
  const std::int64_t in = features_before(at.c.model, tap->layer);
  const std::int64_t out = features_after(at.c.model, tap->layer);
  if (is_read(at, *tap)) return at.only_if(at.input != at.gradient, at.c.precision.storage, {at.rows, in});
  return at.only_if(tap->tensor == "y" && at.input && at.gradient, at.c.precision.storage, {at.rows, out});
}

Layout fork_tap(const Place& at) {
  const auto tap = layer_tap(at);
  if (at.whole_window || !at.gradient || !tap) return std::nullopt;
  const auto features = at.input ? features_given(at.c.model, tap->layer, tap->tensor)
                                 : features_forked(at.c.model, tap->layer, tap->tensor);
  return features ? Layout{TapLayout{at.c.precision.storage, {at.rows, *features}}} : std::nullopt;
}

/// `compensation.<p>`, beside the buffer and like it.
Layout compensation_tap(Place at) {
  if (!take(at.rest, "compensation.") || at.gradient) return std::nullopt;
  const Shape* shape = at.parameter();
  if (shape == nullptr) return std::nullopt;
  return TapLayout{at.c.precision.accumulate, *shape};
}

/// `buffer.<p>`; where gradients are written directly, its readers read the gradient instead.
Layout buffer_tap(Place at, bool allowed) {
  if (!take(at.rest, "buffer.") || at.gradient) return std::nullopt;
  const Shape* shape = at.parameter();
  if (shape == nullptr || !allowed) return std::nullopt;
  return TapLayout{at.c.precision.accumulate, *shape};
}

Layout accumulate_tap(const Place& at) {
  if (at.whole_window) return std::nullopt;
  if (const Shape* shape = at.parameter()) {
    return at.only_if(at.input && at.gradient, at.c.precision.storage, *shape);
  }
  if (const Layout compensation = compensation_tap(at)) return compensation;
  return buffer_tap(at, true);
}

Layout overflow_check_tap(const Place& at) {
  if (!at.whole_window) return std::nullopt;
  if (at.rest == "found") return at.only_if(!at.input && !at.gradient, Dtype::u8, {});
  if (const Shape* shape = at.parameter()) {
    return at.only_if(at.input && at.gradient, at.c.precision.storage, *shape);
  }
  return buffer_tap(at, at.input);
}

Layout unscale_tap(const Place& at) {
  if (!at.whole_window) return std::nullopt;
  if (at.rest == "inverse_scale") return at.only_if(at.input && !at.gradient, Dtype::fp32, {});
  if (const Shape* shape = at.parameter()) {
    return at.only_if(at.gradient, at.input ? at.c.precision.storage : Dtype::fp32, *shape);
  }
  return buffer_tap(at, at.input);
}

/// norm, clip and decay: fp32 gradients, and the scalars of clipping.
Layout gradient_tap(const Place& at, std::string_view stage) {
  if (!at.whole_window) return std::nullopt;
  const bool by_norm = clips_by_norm(at.c.recipe.clip);
  if (!by_norm && (at.rest == "norm" || at.rest == "coefficient")) return std::nullopt;
  if (at.rest == "norm") return at.only_if(!at.gradient && at.input == (stage == "clip"), Dtype::fp32, {});
  if (at.rest == "coefficient") return at.only_if(!at.gradient && !at.input && stage == "clip", Dtype::fp32, {});
  const Shape* shape = at.parameter();
  if (shape == nullptr) return std::nullopt;
  if (at.gradient) return at.only_if(at.input || stage != "norm", Dtype::fp32, *shape);
  return at.only_if(stage == "decay", at.c.precision.master, *shape);
}

Layout optimizer_tap(Place at) {
  if (!at.whole_window) return std::nullopt;
  if (at.rest == "learning_rate") return at.only_if(at.input && !at.gradient, Dtype::fp32, {});
  if (at.rest == "step") return at.only_if(at.input && !at.gradient, Dtype::i64, {});
  if (const Shape* shape = at.parameter()) {
    if (at.gradient) return at.only_if(at.input, Dtype::fp32, *shape);
    return TapLayout{at.c.precision.master, *shape};
  }
  const auto kept = state_of(at.c.recipe.optimizer);
  const bool state =
      std::any_of(kept.begin(), kept.end(), [&](const StateTensor* each) { return take(at.rest, each->name + "."); });
  const Shape* shape = at.parameter();
  if (!state || shape == nullptr || at.gradient) return std::nullopt;
  return TapLayout{at.c.precision.master, *shape};
}

/// scaler and schedule: scalars of the whole window.
Layout scalar_tap(const Place& at, std::string_view stage) {
  if (!at.whole_window || at.gradient) return std::nullopt;
  if (at.rest == "found") return at.only_if(at.input, Dtype::u8, {});
  if (stage == "schedule") {
    if (at.rest == "step") return TapLayout{Dtype::i64, {}};
    return at.only_if(at.rest == "learning_rate" && !at.input, Dtype::fp32, {});
  }
  if (at.rest == "scale") return TapLayout{Dtype::fp32, {}};
  return at.only_if(at.rest == "growth_counter", Dtype::i64, {});
}

/// Whether a window of this recipe passes the stage.
bool runs(const Recipe& recipe, std::string_view stage) {
  if (stage == "overflow_check" || stage == "scaler") return checks_overflow(recipe.loss_scale);
  if (stage == "norm") return clips_by_norm(recipe.clip);
  if (stage == "clip") return clips(recipe.clip);
  return stage != "decay" || decays(recipe.weight_decay);
}

Layout layout_at(const Place& at, std::string_view stage) {
  if (stage == "cast") return cast_tap(at);
  if (stage == "forward") return forward_tap(at);
  if (stage == "running_stats") return running_stats_tap(at);
  if (stage == "loss") return loss_tap(at);
  if (stage == "backward") return backward_tap(at);
  if (stage == "fork") return fork_tap(at);
  if (stage == "accumulate") return accumulate_tap(at);
  if (stage == "overflow_check") return overflow_check_tap(at);
  if (stage == "unscale") return unscale_tap(at);
  if (stage == "norm" || stage == "clip" || stage == "decay") return gradient_tap(at, stage);
  if (stage == "optimizer") return optimizer_tap(at);
  if (stage == "scaler" || stage == "schedule") return scalar_tap(at, stage);
  return std::nullopt;
}

/// Rows of the micro-batch, 0 for the window's stages; nullopt: the case has no such window or micro-batch.
std::optional<std::int64_t> rows_at(const Case& c, const TapName& name) {
  const auto window = static_cast<std::size_t>(name.window);
  if (name.window < 0 || window >= c.windows.size()) return std::nullopt;
  if (name.micro_batch < 0) return 0;
  const auto micro_batch = static_cast<std::size_t>(name.micro_batch);
  if (micro_batch >= c.windows[window].size()) return std::nullopt;
  return c.windows[window][micro_batch];
}

Layout layout_with(const Case& c, const std::vector<std::string>& parameters, std::int64_t rows, const TapName& name) {
  if (!runs(c.recipe, name.stage)) return std::nullopt;
  Place output{c, parameters, rows, name.micro_batch < 0, false, false, name.tensor};
  Place input = output, gradient = output;
  input.input = take(input.rest, "in.");
  gradient.gradient = take(gradient.rest, "d.");
  Place both = input;
  both.gradient = take(both.rest, "d.");
  // A layer may be named "in" or "d": then what looks like a mark is its name.
  for (const Place* at : {&both, &input, &gradient, &output})
    if (const Layout found = layout_at(*at, name.stage)) return found;
  return std::nullopt;
}

}  // namespace

std::optional<TapLayout> layout_of(const Case& c, const TapName& name) {
  const auto rows = rows_at(c, name);
  return rows ? layout_with(c, parameters_of(c.model), *rows, name) : std::nullopt;
}

TapLayouts::TapLayouts(const Case& c) : case_(c), parameters_(parameters_of(c.model)) {}

const std::optional<TapLayout>& TapLayouts::of(const TapName& name) {
  static const std::optional<TapLayout> none;
  const auto rows = rows_at(case_, name);
  if (!rows) return none;
  const std::string key =
      (name.micro_batch < 0 ? "w" : "m" + std::to_string(*rows)) + "/" + name.stage + "/" + name.tensor;
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  return known_.emplace(key, layout_with(case_, parameters_, *rows, name)).first->second;
}

}  // namespace tally
