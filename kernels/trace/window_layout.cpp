#include "kernels/trace/window_layout.hpp"

#include <algorithm>

#include "kernels/trace/running_layout.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"

namespace tally::taps {
namespace {

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
    const bool summed = in_ranks(at.c) && communicate_of(at.c) == Communicate::micro_batch;
    return at.only_if(at.input && at.gradient, summed ? at.c.precision.accumulate : at.c.precision.storage, *shape);
  }
  if (const Layout compensation = compensation_tap(at)) return compensation;
  return buffer_tap(at, true);
}

/// What a rank hands to the sum over ranks, what travels of it, and the sum.
Layout reduce_tap(Place at) {
  const bool of_replicas = at.whole_window && replicas_of(at.c) > 1;
  if (!in_ranks(at.c) || (at.whole_window == communicates_each(at.c) && !of_replicas)) return std::nullopt;
  if (at.input && at.rest == "divisor") return TapLayout{Dtype::fp32, {}};
  const bool gradients = communicate_of(at.c) == Communicate::micro_batch && !of_replicas;
  if (at.gradient) {
    const Shape* shape = at.input && gradients ? at.parameter() : nullptr;
    return shape == nullptr ? std::nullopt : Layout{TapLayout{at.c.precision.storage, *shape}};
  }
  const bool travels = !at.input && take(at.rest, "wire.");
  const bool known = travels || (at.input ? !gradients && take(at.rest, "buffer.") : take(at.rest, "reduced."));
  const Shape* shape = known ? at.parameter() : nullptr;
  if (shape == nullptr) return std::nullopt;
  return TapLayout{travels ? wire_of(at.c) : at.c.precision.accumulate, *shape};
}

/// What a rank found, and what all of them act upon.
Layout agree_tap(const Place& at) {
  return at.only_if(in_ranks(at.c) && at.whole_window && at.rest == "found" && !at.gradient, Dtype::u8, {});
}

/// What a rank has of what layers read, and what all ranks have of it together: before forward, and before backward.
Layout all_gather_tap(Place at) {
  if (!shards_parameters(at.c) || at.whole_window || at.gradient) return std::nullopt;
  if (at.input && !take(at.rest, "shard.")) return std::nullopt;
  if (!at.input) take(at.rest, "again.");
  const Shape* shape = at.parameter();
  return shape == nullptr ? std::nullopt : Layout{TapLayout{at.c.precision.storage, *shape}};
}

/// What a rank moved of a parameter, and what it has of all ranks.
Layout gather_updated_tap(Place at) {
  if (!shards_optimizer(at.c) || shards_parameters(at.c) || !at.whole_window || at.gradient) return std::nullopt;
  if (at.input && !take(at.rest, "shard.")) return std::nullopt;
  const Shape* shape = at.parameter();
  return shape == nullptr ? std::nullopt : Layout{TapLayout{at.c.precision.master, *shape}};
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
  if (at.rest == "part")
    return at.only_if(
        (shards_optimizer(at.c) || is_pipelined(at.c)) && by_norm && !at.gradient && !at.input && stage == "norm",
        Dtype::fp32, {});
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

/// What a rank writes down for those that train on, and what each of these takes up.
Layout checkpoint_tap(Place at) {
  if (!at.whole_window || at.gradient) return std::nullopt;
  const bool pieces = shards_optimizer(at.c);
  if (at.input && at.c.rank >= (pieces ? sharers_of(at.c) : 1)) return std::nullopt;  // another writes the same
  const bool first = !at.input || at.c.rank == 0, scales = checks_overflow(at.c.recipe.loss_scale);
  if (at.rest == "step") return at.only_if(first, Dtype::i64, {});
  if (at.rest == "growth_counter") return at.only_if(first && scales, Dtype::i64, {});
  if (at.rest == "scale") return at.only_if(first && scales, Dtype::fp32, {});
  if (const auto tap = layer_tap(at); tap && (tap->tensor == "running_mean" || tap->tensor == "running_var")) {
    const Layer& layer = at.c.model.layers[tap->layer];
    return at.only_if(first && layer.kind == "batch_norm" && !is_batch_norm(layer, "frozen"), at.c.precision.master,
                      {features_before(at.c.model, tap->layer)});
  }
  for (const StateTensor* each : state_of(at.c.recipe.optimizer))
    if (take(at.rest, each->name + ".")) break;
  const Shape* shape = at.parameter();
  return shape == nullptr ? std::nullopt : Layout{TapLayout{at.c.precision.master, *shape}};
}

}  // namespace

Layout window_layout(const Place& at, std::string_view stage) {
  if (stage == "accumulate") return accumulate_tap(at);
  if (stage == "reduce") return reduce_tap(at);
  if (stage == "all_gather") return all_gather_tap(at);
  if (stage == "gather_updated") return gather_updated_tap(at);
  if (stage == "agree") return agree_tap(at);
  if (stage == "overflow_check") return overflow_check_tap(at);
  if (stage == "unscale") return unscale_tap(at);
  if (stage == "norm" || stage == "clip" || stage == "decay") return gradient_tap(at, stage);
  if (stage == "optimizer") return optimizer_tap(at);
  if (stage == "checkpoint") return checkpoint_tap(at);
  if (stage == "scaler" || stage == "schedule") return scalar_tap(at, stage);
  return std::nullopt;
}

}  // namespace tally::taps
