#include <algorithm>
#include <string>

#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/sizes.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"
#include "properties/laws/settings/together.hpp"
#include "properties/laws/shapes.hpp"

namespace tally {
namespace {

bool has_parameters(const Layer& layer) {
  return layer.tied.empty() && std::ranges::count(tensors_of(layer), Role::parameter, &LayerTensor::role) > 0;
}

/// Everything in front of some layer stands still, as where a head alone is trained.
void a_frozen_front(Plan& plan, executor::Schedule& random) {
  plan.tokens.frozen = plan.tokens.frozen_positions = true;
  const std::size_t end = random.below(plan.hidden.size() + 1);
  for (std::size_t i = 0; i < end; ++i)
    if (has_parameters(plan.hidden[i])) plan.hidden[i].trainable = false;
}

/// The last layer stands still, and what is in front of it trains.
void a_frozen_head(Plan& plan, executor::Schedule& random) {
  plan.head_trains = false;
  plan.tokens.tied = false;
  if (random.below(2) == 0) plan.execution.kernels["head_loss"] = "chunked";
}

/// The loss reads what hidden layers leave: an activation, a norm, a sum.
void no_head(Plan& plan, executor::Schedule& random) {
  if (plan.tokens.width > 0 || plan.hidden.empty()) return;
  plan.has_head = false;
  if (random.below(2) == 0) {
    std::string& name = plan.hidden.back().name;
    if (name.empty()) name = "last";
    plan.hidden.push_back(sum_of("last_sum", {name, name}));
    plan.execution.kernels["add_norm"] = "fused";
  }
  plan.outputs = hidden_features(plan);
  if (plan.loss.kind == "cross_entropy") plan.execution.kernels["head_loss"] = "chunked";
}

/// One layer and one parameter, or a norm and it.
void little(Plan& plan, executor::Schedule& random) {
  plan.tokens = {};
  plan.hidden.clear();
  if (random.below(2) == 0) {
    plan.hidden.push_back(layer("batch_norm", "norm", {{"statistics", std::string("micro_step")}, {"affine", false}}));
    if (random.below(2) == 0) {
      plan.hidden.back().options["affine"] = true;
      plan.has_head = false;
      plan.outputs = plan.input;
    }
  }
  plan.output_bias = false;
  plan.loss.options.erase("shift");
  plan.loss = choice("loss", random.below(2) == 0 ? "mse" : "cross_entropy");
  if (plan.loss.kind == "cross_entropy") plan.execution.kernels["head_loss"] = "chunked";
}

/// The loss can name one class alone.
void one_class(Plan& plan, executor::Schedule& random) {
  if (plan.tokens.width > 0) return;
  plan.loss = choice("loss", "cross_entropy");
  plan.outputs = 1;
  plan.has_head = true;
  if (random.below(3) == 0) plan.loss.options["weight"] = std::vector<Decimal>{Decimal{"0.5"}};
  if (random.below(2) == 0) plan.execution.kernels["head_loss"] = "chunked";
}

/// Decay leaves out some parameter by its full name.
void an_excluded_parameter(Plan& plan, executor::Schedule& random) {
  plan.recipe.weight_decay =
      choice("weight_decay", random.below(2) == 0 ? "l2" : "decoupled", {{"lambda", Decimal{"0.01"}}});
  plan.recipe.weight_decay.options["exclude"] = std::vector<std::string>{"out.weight"};
}

/// One block does all of a kernel's work, in strides.
void one_block(Plan& plan, executor::Schedule&) { plan.execution.kernels[std::string(most_blocks_key)] = "1"; }

/// Kernels that are the standard ones by another name, and products as the precision says.
void named_kernels(Plan& plan, executor::Schedule& random) {
  plan.execution.kernels["linear.weight_gradient"] = "separate";
  plan.execution.kernels["gemm.math"] = plan.precision.tf32 && random.below(4) != 0 ? "tf32" : "default";
}

/// A second table of the same tokens, added to the first; a layer is tied to each.
void a_second_table(Plan& plan, executor::Schedule& random) {
  if (plan.tokens.width == 0) return;
  const std::string read = plan.tokens.positions ? "wpe" : "wte";
  std::vector<Layer> front{layer("embedding", "wte2", {{"width", plan.tokens.width}}), sum_of("both", {read, "wte2"})};
  front.front().inputs = {model_input_name};
  for (const char* table : {"wte2", "wte"}) {
    if (random.below(3) == 0) continue;
    front.push_back(layer("linear", std::string("use_") + table, {{"out", plan.input}, {"bias", false}}));
    front.back().tied = table;
    front.push_back(layer("linear", std::string("back_") + table, {{"out", plan.tokens.width}, {"bias", false}}));
  }
  for (Layer& each : plan.hidden) std::ranges::replace(each.inputs, read, front.back().name);
  plan.hidden.insert(plan.hidden.begin(), front.begin(), front.end());
}

/// A table with two users in the first stage.
void a_table_within_a_stage(Plan& plan, executor::Schedule&) {
  if (plan.tokens.width == 0) return;
  plan.tokens.tied = false;
  plan.hidden = {layer("linear", "use", {{"out", plan.input}, {"bias", false}}),
                 layer("linear", "back", {{"out", plan.tokens.width}}), layer("relu", "act")};
  plan.hidden.front().tied = "wte";
  plan.stages = 2;
}

/// A norm behind a sum of two, of three, and behind another layer than the sum, in the pass that takes both.
void sums_in_front_of_norms(Plan& plan, executor::Schedule& random) {
  if (plan.hidden.empty()) return;
  std::string& name = plan.hidden.back().name;
  if (name.empty()) name = "before_sum";
  const std::uint64_t form = random.below(4);
  const std::string read = name;
  plan.hidden.push_back(form == 0 ? sum_of("put_sum", {read, read, read}) : sum_of("put_sum", {read, read}));
  if (form == 3) plan.hidden.push_back(layer("relu", "put_act"));
  plan.hidden.push_back(layer("rms_norm", "put_norm"));
  if (form == 2) {
    plan.hidden.back().inputs = {read};
    plan.hidden.push_back(sum_of("put_last", {"put_sum", "put_norm"}));
  }
  plan.execution.kernels = {{"add_norm", "fused"}, {"add_norm.backward", "fused"}};
}

/// Gradients that are no numbers reach a clip by the largest element, of shared pieces.
void no_numbers_on_ranks(Plan& plan, executor::Schedule& random) {
  plan.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{"1"}}, {"norm", std::string("inf")}});
  plan.recipe.loss_scale = choice("loss_scale", "none");
  const bool narrow = !format_row(plan.precision.storage).has_range_of_fp32();
  plan.gradient_magnitude = narrow ? 0x1p12 : 0x1p100;
  plan.tokens = {};
  plan.hidden = {layer("scale", "enlarged", {{"factor", Decimal{narrow ? "4096" : "1099511627776"}}})};
  plan.input = 2 + static_cast<std::int64_t>(random.below(2));
  plan.loss = choice("loss", "mse");
  plan.stages = 1;
  at_least_micro_batches(plan, 2);
  dealt_to_ranks(plan);
  share(plan, "optimizer");
}

/// Statistics of a window in front of everything, where no gradient goes on.
void window_statistics_in_front(Plan& plan, executor::Schedule&) {
  plan.tokens = {};
  plan.stages = plan.ranks = plan.chunks = 1;
  plan.next_ranks = 0;
  plan.execution.ranks = {};
  std::erase_if(plan.hidden, [](const Layer& layer) { return !layer.inputs.empty(); });
  plan.hidden.insert(plan.hidden.begin(),
                     layer("batch_norm", "norm_in_front", {{"statistics", std::string("window")}}));
}

/// What a norm sees is one large number in every row.
void constant_rows(Plan& plan, executor::Schedule&) { plan.constant = true; }

/// The number of ranks changes.
void ranks_that_change(Plan& plan, executor::Schedule&) {
  if (plan.ranks > 1) change_ranks(plan);
}

}  // namespace

const std::vector<UnusualForm>& unusual_forms() {
  static const std::vector<UnusualForm> all{a_frozen_front,
                                            a_frozen_head,
                                            no_head,
                                            little,
                                            one_class,
                                            an_excluded_parameter,
                                            one_block,
                                            named_kernels,
                                            a_second_table,
                                            a_table_within_a_stage,
                                            sums_in_front_of_norms,
                                            no_numbers_on_ranks,
                                            window_statistics_in_front,
                                            constant_rows,
                                            ranks_that_change};
  return all;
}

}  // namespace tally
