#include "kernels/trace/trace_layout.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "kernels/trace/count_layout.hpp"
#include "kernels/trace/fork_layout.hpp"
#include "kernels/trace/loss_layout.hpp"
#include "kernels/trace/message_layout.hpp"
#include "kernels/trace/pipe_tag.hpp"
#include "kernels/trace/running_layout.hpp"
#include "kernels/trace/step_layout.hpp"
#include "kernels/trace/window_layout.hpp"
#include "oracle/case/generations.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/micro_steps.hpp"
#include "oracle/case/pairs.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "oracle/layers/attention.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

using taps::is_batch_norm;
using taps::layer_tap;
using taps::LayerTap;
using taps::Layout;
using taps::message_tap;
using taps::Place;
using taps::Shape;
using taps::take;

bool hands_gradient_on(const Layer& layer) { return contract_of("layer", layer).hands_gradient_on; }

/// Whether the tensor is one that the layer reads from others: "x", "x0".
bool is_read(const Place& at, const LayerTap& tap) {
  return !contract_of("layer", at.c.model.layers[tap.layer]).reads_tokens &&
         input_called(at.c.model, tap.layer, tap.tensor).has_value();
}

Layout cast_tap(const Place& at) {
  const Shape* shape = at.weight();
  if (shape == nullptr || !at.whole_window || at.gradient) return std::nullopt;
  return TapLayout{at.input ? at.c.precision.master : at.c.precision.storage, *shape};
}

/// What a layer leaves of every row.
Layout row_statistic_tap(const Place& at, const Layer& layer, const std::vector<RowStatistic>& all,
                         std::string_view tensor) {
  for (const RowStatistic& each : all)
    if (each.name == tensor) return at.only_if(!at.whole_window, Dtype::fp32, shape_of(each, layer, at.rows));
  return std::nullopt;
}

/// Features of the input that a layer calls so.
std::int64_t features_read(const Place& at, const LayerTap& tap) {
  return tally::features_read(at.c.model, tap.layer)[*input_called(at.c.model, tap.layer, tap.tensor)];
}

/// Of backward: what it reads again of forward's outputs, and what it works out of every row.
Layout kept_tap(const Place& at, const LayerTap& tap) {
  const Layer& layer = at.c.model.layers[tap.layer];
  const Contract& contract = contract_of("layer", layer);
  if (at.gradient) return std::nullopt;
  if (!at.input) return row_statistic_tap(at, layer, contract.backward_statistics, tap.tensor);
  if (std::ranges::count(contract.kept_for_backward, tap.tensor) == 0) return std::nullopt;
  if (tap.tensor == "y") return TapLayout{at.c.precision.storage, {at.rows, features_after(at.c.model, tap.layer)}};
  return row_statistic_tap(at, layer, contract.row_statistics, tap.tensor);
}

/// What layers look their rows up by.
Layout index_tap(const Place& at) {
  const bool known =
      (at.rest == "tokens" && at.c.model.tokens) || (at.rest == "positions" && reads_positions(at.c.model));
  return at.only_if(known && at.input && !at.gradient && !at.whole_window, Dtype::i64, {at.rows});
}

Layout statistics_tap(const Place& at, const Layer& layer, std::int64_t features) {
  const bool lockstep = is_batch_norm(layer, "window");
  return at.only_if(layer.kind == "batch_norm" && at.whole_window == lockstep, Dtype::fp32, {features});
}

Layout forward_tap(const Place& at) {
  if (at.gradient) return std::nullopt;
  if (const Layout index = index_tap(at)) return index;
  if (const Shape* shape = at.weight()) {
    return at.only_if(at.input && !at.whole_window, at.c.precision.storage, *shape);
  }
  const auto tap = layer_tap(at);
  if (!tap) return std::nullopt;
  const Layer& layer = at.c.model.layers[tap->layer];
  const std::int64_t in = features_before(at.c.model, tap->layer);
  const std::int64_t out = features_after(at.c.model, tap->layer);
  const bool each = !at.whole_window;
  if (is_read(at, *tap))
    return at.only_if(at.input && each, at.c.precision.storage, {at.rows, features_read(at, *tap)});
  if (tap->tensor == "y") return at.only_if(!at.input && each, at.c.precision.storage, {at.rows, out});
  if (tap->tensor == "mask" && layer.kind == "attention")
    return at.only_if(at.input && each && drops_weights(layer), Dtype::u8, {layer.integer("heads"), at.pairs});
  if (tap->tensor == "mask") return at.only_if(at.input && each && layer.kind == "dropout", Dtype::u8, {at.rows, in});
  if (tap->tensor == "running_mean" || tap->tensor == "running_var") {
    return at.only_if(at.input && each && is_batch_norm(layer, "frozen"), at.c.precision.master, {in});
  }
  if (const Layout row = row_statistic_tap(at, layer, contract_of("layer", layer).row_statistics, tap->tensor))
    return at.input ? std::nullopt : row;
  if (pools_steps(at.c, layer)) return taps::own_statistics_tap(at, *tap);
  const bool statistic = tap->tensor == "mean" || tap->tensor == "var" || tap->tensor == "rstd";
  return statistic && !at.input ? statistics_tap(at, layer, in) : std::nullopt;
}

/// What one of the layers that read a parameter gives for it: of backward, and handed to fork.
Layout shared_gradient_tap(const Place& at) {
  if (at.whole_window || !at.gradient) return std::nullopt;
  const auto name = shared_parameter_called(at.c.model, at.rest);
  return name ? Layout{TapLayout{at.c.precision.storage, at.c.tensors.at(*name).shape}} : std::nullopt;
}

Layout backward_tap(const Place& at) {
  if (at.whole_window) return std::nullopt;
  if (const Layout index = index_tap(at)) return index;
  if (const Layout given = shared_gradient_tap(at)) return at.input ? std::nullopt : given;
  if (const Shape* shape = at.parameter()) return at.only_if(at.input != at.gradient, at.c.precision.storage, *shape);
  if (const Shape* shape = at.weight()) return at.only_if(at.input && !at.gradient, at.c.precision.storage, *shape);
  const auto tap = layer_tap(at);
  if (!tap || hands_gradient_on(at.c.model.layers[tap->layer])) return std::nullopt;
  const std::int64_t out = features_after(at.c.model, tap->layer);
  if (is_read(at, *tap))
    return at.only_if(at.input != at.gradient, at.c.precision.storage, {at.rows, features_read(at, *tap)});
  if (const Layout kept = kept_tap(at, *tap)) return kept;
  if (const Layout sums = taps::own_gradient_sums_tap(at, *tap)) return sums;
  return at.only_if(tap->tensor == "y" && at.input && at.gradient, at.c.precision.storage, {at.rows, out});
}

Layout fork_tap(const Place& at) {
  if (const Layout given = shared_gradient_tap(at)) return at.input ? given : std::nullopt;
  if (const Shape* shape = at.parameter())
    return at.only_if(!at.whole_window && at.gradient && !at.input && is_shared(at.c.model, at.rest),
                      at.c.precision.storage, *shape);
  const auto tap = layer_tap(at);
  if (at.whole_window || !at.gradient || !tap) return std::nullopt;
  const auto features = at.input ? features_given(at.c.model, tap->layer, tap->tensor)
                                 : features_forked(at.c.model, tap->layer, tap->tensor);
  return features ? Layout{TapLayout{at.c.precision.storage, {at.rows, *features}}} : std::nullopt;
}

/// Whether a window of this recipe passes the stage.
bool runs(const Recipe& recipe, std::string_view stage) {
  if (stage == "overflow_check" || stage == "agree" || stage == "scaler") return checks_overflow(recipe.loss_scale);
  if (stage == "norm") return clips_by_norm(recipe.clip);
  if (stage == "clip") return clips(recipe.clip);
  return stage != "decay" || decays(recipe.weight_decay);
}

Layout layout_at(const Place& at, std::string_view stage, int pipe) {
  if (stage == "cast") return cast_tap(at);
  if (stage == "forward") return forward_tap(at);
  if (stage == "sync_statistics") return taps::sync_statistics_tap(at);
  if (stage == "running_stats") return taps::running_stats_tap(at);
  if (stage == "loss") return taps::loss_tap(at);
  if (stage == "backward") return backward_tap(at);
  if (stage == "send" || stage == "receive") return message_tap(at, pipe, stage == "send");
  if (stage == "fork") return fork_tap(at);
  return taps::window_layout(at, stage);
}

/// Rows of the micro-batch and pairs of rows of one sequence, 0 for the window's stages; nullopt: the case has no such
/// window or micro-batch.
struct Extent {
  std::int64_t rows = 0, pairs = 0;
};
/// Of a rank that has fewer micro-batches than another and takes part in what all do together at those.
std::optional<Extent> extent_without_rows(const Case& c, const TapName& name) {
  const bool sums = name.stage == "reduce" || name.stage == "all_gather" ||
                    (name.stage == "accumulate" && communicate_of(c) == Communicate::micro_batch);
  const bool shares = pools_steps(c) && (name.stage == "sync_statistics" || name.stage == "running_stats");
  const bool takes_part =
      in_ranks(c) && ((communicates_each(c) && sums) || shares) &&
      static_cast<std::size_t>(name.micro_batch) < micro_steps_of(c, static_cast<std::size_t>(name.window));
  return takes_part ? std::optional(Extent{}) : std::nullopt;
}

std::optional<Extent> extent_at(const Case& c, const TapName& name) {
  const auto window = static_cast<std::size_t>(name.window);
  if (name.window < 0 || window >= c.windows.size()) return std::nullopt;
  if (name.micro_batch < 0) return Extent{};
  const auto micro_batch = static_cast<std::size_t>(name.micro_batch);
  if (micro_batch >= c.windows[window].size()) return extent_without_rows(c, name);
  const std::int64_t rows = c.windows[window][micro_batch];
  return Extent{rows, pairs_of(c, first_row(c, window, micro_batch), rows)};
}

/// Of a tap that holds a rank's piece of a parameter: its elements in a row. Nothing where the rank has none.
Layout cut_to_shard(const Case& c, const TapName& name, Layout whole) {
  const std::string parameter = whole ? sharded_parameter(c, name.stage, name.tensor, name.micro_batch) : std::string();
  if (parameter.empty()) return whole;
  const ShardPiece piece = piece_of(whole_of(c), parameter, c.rank);
  if (piece.count == 0) return std::nullopt;
  whole->shape = {piece.count};
  return whole;
}

/// Whether the rank takes up a checkpoint in front of this window, or writes one down behind it.
bool has_checkpoint(const Case& c, const TapName& name) {
  const auto window = static_cast<std::size_t>(name.window);
  return name.tensor.starts_with("in.") ? leaves_checkpoint(c, window) : begins_from_checkpoint(c, window);
}

Layout layout_with(const Case& c, const ParameterNames& names, Extent extent, const TapName& name) {
  if (!runs(c.recipe, name.stage) || (name.stage == "checkpoint" && !has_checkpoint(c, name))) return std::nullopt;
  Place output{c, names, extent.rows, extent.pairs, name.micro_batch < 0, false, false, name.tensor};
  Place input = output, gradient = output;
  input.input = take(input.rest, "in.");
  gradient.gradient = take(gradient.rest, "d.");
  Place both = input;
  both.gradient = take(both.rest, "d.");
  // A layer may be named "in" or "d": then what looks like a mark is its name.
  for (const Place* at : {&both, &input, &gradient, &output})
    if (const Layout found = layout_at(*at, name.stage, name.pipe)) return cut_to_shard(c, name, found);
  return std::nullopt;
}

}  // namespace

namespace {

/// Whether a tap's name has a stage of a pipeline exactly where that tells it from others, and one of its own.
bool names_a_pipe(const Case& c, const TapName& name) {
  if (!is_pipelined(c)) return name.pipe < 0;
  const int stages = static_cast<int>(stages_of(c)), asked = std::max(name.pipe, 0);
  return name.pipe < stages && pipe_in_name(name.stage, name.tensor, name.micro_batch, asked) == name.pipe;
}

/// Whether it has a rank exactly where several train, and one of theirs.
bool names_a_rank(const Case& c, const TapName& name) {
  if (!names_a_pipe(c, name)) return false;
  if (c.dealt.empty()) return name.rank < 0;
  const auto window = static_cast<std::size_t>(name.window);
  return name.rank >= 0 && name.window >= 0 && window < c.windows.size() &&
         static_cast<std::size_t>(name.rank) < ranks_of(c, window);
}

}  // namespace

std::optional<TapLayout> layout_of(const Case& c, const TapName& name) {
  if (!names_a_rank(c, name)) return std::nullopt;
  if (is_elastic(c))
    return layout_of(generation_of(c, generation_with(c, static_cast<std::size_t>(name.window))), name);
  if (name.rank >= 0) return layout_of(part_of(c, static_cast<std::size_t>(name.rank)), of_rank(name, -1));
  const auto extent = extent_at(c, name);
  if (extent && name.stage == "count") return count_layout(c, name);
  return extent ? layout_with(c, {parameters_of(c.model), weights_of(c.model)}, *extent, name) : std::nullopt;
}

/// One rank's part, and its layouts.
struct TapLayouts::Rank {
  Rank(std::shared_ptr<const Case> the_whole, std::size_t rank)
      : whole(std::move(the_whole)), part(part_of(*whole, rank)), layouts(part) {}
  const std::shared_ptr<const Case> whole;
  const Case part;
  TapLayouts layouts;
};

const std::optional<TapLayout>& TapLayouts::of_a_rank(const TapName& name) {
  const std::size_t which = generation_with(case_, static_cast<std::size_t>(name.window));
  auto& whole = generations_[which];
  if (!whole)
    whole = is_elastic(case_) ? std::make_shared<const Case>(generation_of(case_, which))
                              : std::shared_ptr<const Case>(std::shared_ptr<const Case>(), &case_);
  auto& rank = ranks_[{which, name.rank}];
  if (!rank) rank = std::make_shared<Rank>(whole, static_cast<std::size_t>(name.rank));
  return rank->layouts.of(of_rank(name, -1));
}

TapLayouts::TapLayouts(const Case& c) : case_(c), names_{parameters_of(c.model), weights_of(c.model)} {}

const std::optional<TapLayout>& TapLayouts::of(const TapName& name) {
  static const std::optional<TapLayout> none;
  if (!names_a_rank(case_, name)) return none;
  if (name.rank >= 0) return of_a_rank(name);
  const auto extent = extent_at(case_, name);
  if (!extent) return none;
  // Of as many sequences as this micro-batch has; of one window alone.
  const bool counts = name.stage == "count", between = name.stage == "checkpoint";
  const std::string sizes = std::to_string(extent->rows) + ":" + std::to_string(extent->pairs);
  const bool is_message = name.stage == "send" || name.stage == "receive";
  const std::string key = counts || is_message || between
                              ? name.text()
                              : (name.micro_batch < 0 ? "w" : "m" + sizes) + "/" + name.stage + "/" + name.tensor;
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  if (counts) return known_.emplace(key, count_layout(case_, name)).first->second;
  return known_.emplace(key, layout_with(case_, names_, *extent, name)).first->second;
}

}  // namespace tally
