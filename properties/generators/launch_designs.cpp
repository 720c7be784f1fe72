// Designs for the kernels of layers, norms and residual sums.
#include "properties/generators/launch_designs.hpp"

#include <algorithm>
#include <array>

#include "oracle/case/sizes.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/drawn_options.hpp"

namespace tally {
namespace {

/// Features of the layers, rows of the two micro-batches. Each is the smallest that shows its ways: a warp takes rows
/// from 33 features on, eight threads a column from 64 rows on; blocks hold 32 columns, 128 rows or 4 of a warp's, 256
/// elements; chunks of tensors 4096, of rows 16.
struct LaunchSizes {
  std::int64_t features;
  std::array<std::int64_t, 2> rows;
  std::int64_t input = 2;
  const char* most_blocks = "";
};

constexpr std::array<LaunchSizes, 10> launch_sizes{{{777, {2, 2}},
                                                    {64, {8, 5}},
                                                    {33, {67, 64}},
                                                    {64, {64, 2}},
                                                    {32, {64, 3}},
                                                    {5, {129, 2}},
                                                    {4, {256, 8}},
                                                    {512, {2, 2}, 16},
                                                    {300, {5, 2}, 16, "1"},
                                                    {2, {770, 2}, 2, "1"}}};
constexpr std::uint64_t rounds = launch_designs / launch_sizes.size();

/// Which of the variants and formats: `round` runs through all sizes; `precision` is the storage's number. In six
/// rounds every variant that knows the storage format meets every size, in those of three precisions every other one
/// does.
struct Round {
  std::uint64_t number, precision;

  template <std::size_t count>
  const char* of(const std::array<const char*, count>& words, std::uint64_t at) const {
    return words[at % count];
  }
  bool is_odd() const { return number % 2 == 1; }
  bool steps_at_once() const { return (number + precision) % 3 == 0; }
  /// The pass over all parameters takes only one norm with it: for every buffer's format there is a round with that one
  /// and a round with another.
  bool takes_the_norm_along() const { return (number / 2 + precision) % 2 == 0; }
};

Round round_of(const Plan& plan) {
  const std::vector<Dtype>& formats = storage_formats();
  const auto precision = std::find(formats.begin(), formats.end(), plan.precision.storage) - formats.begin();
  return {plan.seed % launch_designs / launch_sizes.size() % rounds, static_cast<std::uint64_t>(precision)};
}

const Layer& activation(std::uint64_t number) { return activations()[number % activations().size()]; }

void design_model(Plan& plan, const LaunchSizes& size, const Round& round) {
  const std::string statistics = round.is_odd() ? "window" : "micro_batch";
  plan.input = size.input;
  plan.outputs = size.features;
  plan.output_bias = true;
  plan.hidden = {
      layer("linear", "fc1", {{"out", size.features}}),
      layer("rms_norm", "norm0", {{"affine", plan.seed % 5 != 0}, {"offset", Decimal{round.is_odd() ? "1" : "0"}}}),
      layer("layer_norm", "norm1", {{"affine", plan.seed % 7 != 0}}),
      activation(round.number),
      layer("batch_norm", "norm2", {{"statistics", statistics}, {"affine", plan.seed % 7 != 1}}),
      activation(round.number + 2)};
  for (std::uint64_t i = round.number + 2 + rounds; i < activations().size(); i += rounds)
    plan.hidden.push_back(activation(i));
  plan.hidden.back().name = "act2";
  std::string gate = "norm1", next = "glu";
  for (std::size_t i = 0; i < gate_activations().size(); ++i) {
    plan.hidden.push_back(layer("gated", next, {{"activation", gate_activations()[i]}}));
    plan.hidden.back().inputs = {gate, "act2"};
    gate = next;
    next = "glu" + std::to_string(i + 2);
  }
  plan.hidden.push_back(sum_of("sum", {gate, "act2"}));
  plan.hidden.push_back(layer("rotary", "turn", {{"heads", std::int64_t{1}}, {"dimensions", std::int64_t{2}}}));
  plan.hidden.push_back(layer("scale", "scl", {{"factor", Decimal{"0.75"}}}));
  plan.hidden.push_back(layer("slice", "cut", {{"begin", std::int64_t{0}}, {"end", size.features}}));
  if (round.is_odd()) {
    plan.hidden.push_back(layer("dropout", "drop", {{"p", Decimal{"0.25"}}}));
  } else {
    plan.hidden.push_back(layer("batch_norm", "norm3", {{"statistics", std::string("frozen")}}));
  }
  plan.hidden.push_back(layer("linear", "fc2", {{"out", std::int64_t{2}}}));
  plan.windows = {{size.rows[0], size.rows[1]}};
  plan.tokens.longest = 3;
  plan.normalisation = Normalisation::window_items;
  plan.empty_micro_batch = false;
}

void design_loss(Plan& plan, const Round& round) {
  plan.ignored_percent = 0;
  if (round.number % 5 == 0) {
    plan.loss = choice("loss", "mse", {{"item_weights", round.number == 0}});
    return;
  }
  const Decimal smoothing{round.number % 5 <= 2 ? "0" : "0.25"};
  plan.loss = choice("loss", "cross_entropy", {{"label_smoothing", smoothing}});
  plan.ignored_percent = round.is_odd() ? 25 : 0;
}

/// For every master's format there is a precision with SGD and Adam in the pass over all parameters, one with them by
/// themselves, and one with three of the others: a fourth other needs more rounds.
Choice optimizer_of(const Plan& plan, const Round& round) {
  const auto& others = further_optimizers();
  const std::uint64_t half = round.number / 3;
  if ((round.number + round.precision) % 3 == 2 && !others.empty())
    return choice("optimizer", others[half % others.size()]);
  return half == 0 ? choice("optimizer", "sgd", {{"momentum", Decimal{plan.seed % 2 ? "0" : "0.9"}}})
                   : choice("optimizer", "adam");
}

void design_recipe(Plan& plan, const Round& round) {
  static const std::array norms{"1", "2", "inf"};
  Recipe& recipe = plan.recipe;
  recipe.optimizer = optimizer_of(plan, round);
  recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.1"}}});
  const bool decoupled = (round.number / 3 + round.precision) % 2 == 1;
  recipe.weight_decay = choice("weight_decay", decoupled ? "decoupled" : "l2", {{"lambda", Decimal{"0.01"}}});
  const std::string norm = round.of(norms, round.number + round.precision);
  recipe.clip = round.number == 5 ? choice("clip", "value", {{"max_value", Decimal{"0.01"}}})
                                  : choice("clip", "global_norm", {{"max_norm", Decimal{"0.25"}}, {"norm", norm}});
  recipe.loss_scale = choice("loss_scale", "dynamic", {{"initial", Decimal{"8"}}});
}

void design_execution(Plan& plan, const LaunchSizes& size, const Round& round) {
  static const std::array layer_norms{"two_pass", "one_pass", "welford"};
  static const std::array bias_gradients{"column_lanes", "atomic_add", "two_stage", "warp_shuffle"};
  static const std::array norms{"two_stage", "atomic_add", "shared_tree", "tiled_partition"};
  const char* const gated = round.is_odd() ? "two_step" : "fused";
  const char* const turned = round.is_odd() ? "stored" : "table";
  const char* const cast = round.is_odd() ? "cast_first" : "row_lanes";
  const char* const norm_in_passes = round.takes_the_norm_along() ? "two_stage" : "shared_tree";
  auto& kernels = plan.execution.kernels;
  kernels = {{"layer_norm.forward", round.of(layer_norms, round.number)},
             {"batch_norm.statistics", round.of(layer_norms, round.number)},
             {"linear.bias_gradient", round.of(bias_gradients, round.number)},
             {"norm", round.is_odd() ? round.of(norms, round.number) : norm_in_passes},
             {"accumulate", round.is_odd() ? "kahan" : "grid_stride"},
             {"cross_entropy", round.is_odd() ? "online" : "row_lanes"},
             {"rms_norm.backward", cast},
             {"rms_norm.forward", cast},
             {"rms_norm.weight_gradient", round.is_odd() ? "cast_first" : "column_lanes"},
             {"rotary.forward", turned},
             {"rotary.backward", turned}};
  for (const std::string& word : gate_activations())
    for (const char* direction : {".forward", ".backward"}) kernels["gated_" + word + direction] = gated;
  if (!round.is_odd()) kernels["unscale_check_norm"] = "multi_tensor";
  if (round.steps_at_once()) kernels["clip_decay_step"] = "multi_tensor";
  if (*size.most_blocks != 0) kernels[std::string(most_blocks_key)] = size.most_blocks;
  plan.execution.recompute = false;
}

}  // namespace

void design_launches(Plan& plan) {
  const LaunchSizes& size = launch_sizes[plan.seed % launch_sizes.size()];
  const Round round = round_of(plan);
  const std::vector<Dtype> buffers = formats_for(&FormatUses::accumulate), masters = formats_for(&FormatUses::master);
  plan.precision = {.storage = plan.precision.storage,
                    .accumulate = buffers[round.number / 2 % buffers.size()],
                    .master = masters[round.number % masters.size()]};
  design_model(plan, size, round);
  design_loss(plan, round);
  design_recipe(plan, round);
  design_execution(plan, size, round);
}

namespace {

/// Features of the sum, and the rows of the two micro-batches. A warp takes a row from 33 features on; blocks hold 128
/// rows, or 4 of a warp's: one, several of which the last is full or cut, and strides.
struct ResidualNormSizes {
  std::int64_t features;
  std::array<std::int64_t, 2> rows;
  const char* most_blocks = "";
};

constexpr std::array<ResidualNormSizes, 5> residual_norm_sizes{
    {{2, {129, 256}}, {3, {130, 3}, "1"}, {64, {8, 5}}, {33, {5, 4}, "1"}, {777, {2, 2}}}};
static_assert(residual_norm_designs % residual_norm_sizes.size() == 0);

}  // namespace

void design_residual_norms(Plan& plan) {
  const ResidualNormSizes& size = residual_norm_sizes[plan.seed % residual_norm_sizes.size()];
  const bool plain = plan.seed / residual_norm_sizes.size() % 2 == 0;
  Layer beside = layer("linear", "fc2", {{"out", size.features}});
  beside.inputs = {"input"};
  plan.tokens = {};
  plan.input = 2;
  plan.outputs = 3;
  plan.output_bias = true;
  plan.hidden = {layer("linear", "fc1", {{"out", size.features}}), beside, sum_of("sum1", {"fc1", "fc2"}),
                 layer("rms_norm", "norm", {{"affine", plain}, {"offset", Decimal{plain ? "1" : "0"}}}),
                 sum_of("sum2", {"sum1", "norm"})};
  plan.windows = {{size.rows[0], size.rows[1]}};
  plan.loss = choice("loss", "cross_entropy");
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.values.clear();
  plan.far_mean = false;
  plan.normalisation = Normalisation::window_items;
  auto& kernels = plan.execution.kernels;
  kernels = {{"add_norm", "fused"}, {"add_norm.backward", "fused"}};
  if (*size.most_blocks != 0) kernels[std::string(most_blocks_key)] = size.most_blocks;
  plan.execution.recompute = plan.seed % 3 == 0;
  plan.recomputes_some = plan.seed % 2 == 0;
}

}  // namespace tally
