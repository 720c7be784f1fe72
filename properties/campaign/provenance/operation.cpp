// The operation behind every tap, and the kernel behind the first tensor that fails.
#include "properties/campaign/provenance/operation.hpp"

#include <algorithm>
#include <set>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/kind_steps.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/judge/lens.hpp"

namespace tally {
namespace {

/// The layer that a tensor such as `fc1.weight` or `relu#1.y` belongs to, and what is left of its name.
struct Part {
  const Layer* layer = nullptr;
  std::string rest;
};

Part part_of(const Case& c, const std::string& tensor) {
  if (tensor == "tokens" || tensor == "positions") {
    for (const Layer& layer : c.model.layers)
      if (const Contract& contract = contract_of("layer", layer);
          tensor == "tokens" ? contract.reads_tokens : contract.reads_positions)
        return {&layer, "x"};
  }
  const std::size_t use = tensor.find('@');  // of a weight that several layers read: "wte.weight@head"
  for (std::size_t i = 0; i < c.model.layers.size() && use != std::string::npos; ++i)
    if (label_of(c.model, i) == tensor.substr(use + 1)) return {&c.model.layers[i], "weight"};
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const std::string label = label_of(c.model, i) + ".";
    if (tensor.starts_with(label)) return {&c.model.layers[i], tensor.substr(label.size())};
  }
  return {};
}

bool is_frozen(const Layer& layer) { return layer.kind == kinds::batch_norm && layer.text("statistics") == "frozen"; }

/// Whether dx is computed from both column sums, of dy and of dy times the normalised x.
bool sums_before_dx(const Layer& layer) { return layer.kind == kinds::batch_norm && !is_frozen(layer); }

std::string forward_of(const Layer& layer, const std::string& output) {
  if (layer.kind != kinds::batch_norm || output == "y") return kernel_family_of(layer) + ".forward";
  if (output.starts_with("s")) return "batch_norm.step_sums";  // sum, sum_squares, squares
  return is_frozen(layer) ? "batch_norm.frozen_statistics" : "batch_norm.statistics";
}

/// Whether it works this out of every row before the gradients of its inputs.
bool is_backward_statistic(const Layer& layer, const std::string& output) {
  const auto& all = contract_of("layer", layer).backward_statistics;
  return std::ranges::find(all, output, &RowStatistic::name) != all.end();
}

/// Whether it is one of what the layer reads of others.
bool is_read(const Layer& layer, const std::string& word) {
  const auto& words = contract_of("layer", layer).input_words;
  return word == "x" || std::ranges::count(words, word) > 0;
}

std::string backward_of(const Layer& layer, const std::string& output) {
  if (is_backward_statistic(layer, output)) return kernel_family_of(layer) + "." + output;
  if (layer.kind == kinds::linear) {
    if (output == "bias") return "linear.bias_gradient";
    return output == "x" ? "linear.input_gradient" : "linear.weight_gradient";
  }
  if (!is_read(layer, output)) {
    if (looks_up(contract_of("layer", layer))) return "embedding.gradient";
    const bool one = contract_of("layer", layer).tensors.size() == 1;
    return kernel_family_of(layer) + (one ? ".weight_gradient" : ".parameter_gradients");
  }
  return kernel_family_of(layer) + (is_frozen(layer) ? ".backward_frozen" : ".backward");
}

std::string clip_of(const Case& c, const std::string& tensor) {
  if (!clips(c.recipe.clip)) return "";
  const ClipSteps& steps = clip_steps(c.recipe.clip);
  return tensor == "coefficient" ? steps.of_coefficient : steps.operation;
}

std::string without(const std::string& text, const std::string& start) {
  return text.starts_with(start) ? text.substr(start.size()) : text;
}

/// What ranks make of a micro-step's rows: sums over ranks of backward's, else statistics.
std::string of_micro_step(const Case& c, const std::string& tensor) {
  if (tensor.ends_with(".sum_dy") || tensor.ends_with(".sum_dy_h")) return "rank_sum";
  if (tensor.ends_with(".count")) return "sync_statistics";
  return step_statistics_of(c) == StepStatistics::moments ? "batch_norm.merge_moments" : "batch_norm.pool_sums";
}

/// The operation of a stage that knows nothing of layers.
std::string of_window_stage(const Case& c, const TapName& name, const std::string& tensor) {
  if (name.stage == StageName::loss) return c.model.loss.kind;
  if (name.stage == StageName::clip) return clip_of(c, tensor);
  if (name.stage == StageName::decay)
    return decays(c.recipe.weight_decay) ? decay_steps(c.recipe.weight_decay).operation : "";
  if (name.stage == StageName::optimizer) return c.recipe.optimizer.kind;
  if (name.stage == StageName::fork) return "gradient.add";
  if (name.stage == StageName::sync_statistics) return of_micro_step(c, tensor);
  if (name.stage == StageName::running_stats && name.micro_batch < 0 &&
      without(name.tensor, "in.").starts_with("broadcast."))
    return "broadcast";
  return name.stage;
}

/// Everything a layer runs in backward.
std::vector<std::string> backward_operations(const Layer& layer) {
  if (layer.kind == kinds::linear) return {"linear.input_gradient", "linear.weight_gradient", "linear.bias_gradient"};
  if (contract_of("layer", layer).reads_tokens) return {backward_of(layer, "weight")};
  if (is_norm(layer) || looks_up(contract_of("layer", layer)))
    return {backward_of(layer, "x"), backward_of(layer, "weight")};
  std::vector<std::string> found{backward_of(layer, "x")};
  for (const RowStatistic& each : contract_of("layer", layer).backward_statistics)
    found.push_back(backward_of(layer, each.name));
  return found;
}

std::vector<std::string> forward_operations(const Layer& layer) {
  std::vector<std::string> found{forward_of(layer, "y")};
  if (layer.kind == kinds::batch_norm) found.push_back(forward_of(layer, "mean"));
  return found;
}

/// What uses mean, variance and reciprocal deviation.
std::vector<std::string> statistics_readers(const Layer& layer) {
  std::vector<std::string> found = backward_operations(layer);
  if (layer.kind == kinds::batch_norm) found.push_back("batch_norm.forward");
  return found;
}

std::string claimed(const Claims& claims, const std::string& name) {
  const auto claim = claims.kernels.find(name);
  return claim == claims.kernels.end() ? "" : claim->second.variant;
}

/// The fused pass that this operation is a part of in such a run; empty: none.
std::string fused_pass_of(const Claims& claims, const std::string& operation) {
  constexpr const char *read_once = "unscale_check_norm", *step_once = "clip_decay_step", *head = "head_loss";
  const bool steps = operation.starts_with("clip_") || operation.starts_with("decay.") ||
                     find_contract("optimizer", operation) != nullptr;
  if (steps) return claims.kernels.contains(step_once) ? step_once : "";
  if (operation == "cross_entropy" && claims.kernels.contains(head)) return head;
  const bool norm = operation == "norm" && claimed(claims, "norm") == "two_stage";  // another norm stands alone
  const bool reads = norm || operation == "unscale" || operation == "overflow_check";
  return reads && claims.kernels.contains(read_once) ? read_once : "";
}

}  // namespace

std::string variant_of(const Claims& claims, const std::string& operation) {
  const std::string fused = fused_pass_of(claims, operation);
  return fused.empty() ? claimed(claims, claimed_name_of(operation)) : fused + "/" + claimed(claims, fused);
}

std::string operation_writing(const Case& c, const TapName& name) {
  if (name.tensor.starts_with("in.")) return "";
  if (name.stage != StageName::forward && name.stage != StageName::backward)
    return of_window_stage(c, name, name.tensor);
  const Part part = part_of(c, without(name.tensor, "d."));
  if (part.layer == nullptr) return "";
  return name.stage == StageName::forward ? forward_of(*part.layer, part.rest) : backward_of(*part.layer, part.rest);
}

std::vector<std::string> operations_reading(const Case& c, const TapName& name) {
  const bool input = name.tensor.starts_with("in.");
  if (name.stage != StageName::forward && name.stage != StageName::backward) {
    if (!input)
      return name.stage == StageName::clip && name.tensor == "coefficient" ? std::vector{clip_of(c, "")}
                                                                           : std::vector<std::string>{};
    return {name.stage == StageName::clip && name.tensor == "in.norm" ? clip_of(c, "coefficient")
                                                                      : of_window_stage(c, name, "")};
  }
  const Part part = part_of(c, without(without(name.tensor, "in."), "d."));
  if (part.layer == nullptr) return {};
  if (input)
    return name.stage == StageName::forward ? forward_operations(*part.layer) : backward_operations(*part.layer);
  if (name.stage == StageName::backward && part.rest != "x" && sums_before_dx(*part.layer))
    return {backward_of(*part.layer, "x")};
  if (name.stage == StageName::backward && is_backward_statistic(*part.layer, part.rest))
    return {backward_of(*part.layer, "x")};
  const auto& kept = contract_of("layer", *part.layer).kept_for_backward;
  if (name.stage == StageName::forward && part.rest != "y" && std::ranges::count(kept, part.rest) > 0)
    return backward_operations(*part.layer);
  const bool statistics = is_norm(*part.layer) && (part.rest == "mean" || part.rest == "var" || part.rest == "rstd");
  return name.stage == StageName::forward && statistics ? statistics_readers(*part.layer) : std::vector<std::string>{};
}

std::string unseen_by(const Case& c, const std::string& operation) {
  for (const Layer& layer : c.model.layers) {
    if (!sums_before_dx(layer) || operation != backward_of(layer, "x")) continue;
    const bool tapped = layer.flag("affine") && layer.text("statistics") != "window";
    if (!tapped || c.precision.storage != Dtype::fp32) return backward_of(layer, "weight");
  }
  return "";
}

std::map<std::string, std::string> formats_written(const Case& c, const Trace& trace) {
  std::map<std::string, std::set<std::string>> sets;
  for (const Tap& tap : trace.taps()) {
    if (const std::string operation = operation_writing(c, tap.name); !operation.empty())
      sets[operation].insert(std::string(name_of(tap.value.dtype)));
  }
  std::map<std::string, std::string> formats;
  for (const auto& [operation, names] : sets) {
    for (const std::string& name : names) formats[operation] += (formats[operation].empty() ? "" : " ") + name;
  }
  return formats;
}

std::string claimed_name_of(const std::string& operation) {
  const bool product =
      operation == "linear.forward" || operation == "linear.input_gradient" || operation == "linear.weight_gradient";
  return product ? "gemm" : operation;
}

namespace {

constexpr const char* head_loss = "head_loss";

/// A last layer that runs with the loss, some rows at a time: its gradients are that kernel's.
bool is_of_head(const Case& c, const TapName& name, const Claims& claims) {
  const std::string head = label_of(c.model, c.model.layers.size() - 1);
  return claims.kernels.contains(head_loss) && name.stage == StageName::backward &&
         (name.tensor.starts_with("d." + head + ".") || name.tensor.ends_with("@" + head));
}

}  // namespace

std::string failing_kernel(const Case& c, const std::vector<TensorCheck>& checks, const Claims& claims) {
  const TensorCheck* failure = first_failure(checks);
  const bool is_of_a_tap =
      failure != nullptr && (failure->lens == "local" || failure->lens == "group" || failure->lens == "end_to_end");
  if (!is_of_a_tap) return "";
  const TapName name = tap_name_of(failure->tap);
  const std::string operation = is_of_head(c, name, claims) ? head_loss : operation_writing(c, name);
  const std::string variant = operation.empty() ? "" : variant_of(claims, operation);
  if (variant.empty()) return "";
  const auto slash = variant.find('/');  // a fused pass is named whole: "clip_decay_step/multi_tensor"
  const std::string file = slash == std::string::npos
                               ? file_of_kernel(claimed_name_of(operation), variant)
                               : file_of_kernel(variant.substr(0, slash), variant.substr(slash + 1));
  return operation + "/" + variant + (file.empty() ? "" : ", " + file);
}

}  // namespace tally
