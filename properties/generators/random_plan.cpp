#include "properties/generators/random_plan.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "kernels/device/executor/schedule.hpp"
#include "kernels/device/gemm/blas.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/drawn_options.hpp"

namespace tally {
namespace {

using rc::gen::inRange;

/// One of the values, each as often as its weight says, whatever RapidCheck's size; shrinks toward the first.
template <class T>
T pick(const std::vector<std::pair<int, T>>& choices) {
  int total = 0;
  for (const auto& choice : choices) total += choice.first;
  int at = *rc::gen::resize(rc::kNominalSize, inRange(0, total));
  for (const auto& [weight, value] : choices) {
    if (at < weight) return value;
    at -= weight;
  }
  return choices.front().second;
}

/// Below n, as often at every size; shrinks to 0.
int one_of(int n) { return *rc::gen::resize(rc::kNominalSize, inRange(0, n)); }

/// As often at every size; shrinks to false.
bool one_in(int n) { return one_of(n) == n - 1; }

/// Small first: the larger of these sizes come only once RapidCheck's size has grown to them.
std::int64_t grown(std::initializer_list<std::int64_t> sizes) {
  const auto at = static_cast<std::size_t>(*inRange(0, static_cast<int>(sizes.size())));
  return sizes.begin()[at];
}

std::int64_t drawn_width() {
  if (one_in(3)) return grown({1, 2, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33});  // around vector and warp
  return pick<std::int64_t>({{3, 1}, {4, 2}, {4, 3}, {3, 5}, {2, 8}});
}

void add_norm(Plan& plan, int index) {
  const std::string name = "norm" + std::to_string(index);
  const int kind = pick<int>({{1, 0}, {1, 1}, {2, 2}});
  if (kind == 1) plan.hidden.push_back(layer("layer_norm", name, {{"affine", !one_in(4)}}));
  if (kind == 2) {
    const auto statistics = pick<std::string>({{3, "micro_batch"}, {2, "frozen"}, {2, "window"}});
    const auto eps = pick<std::string>({{3, "1e-5"}, {1, "1e-6"}, {1, "1e-3"}});
    plan.hidden.push_back(
        layer("batch_norm", name, {{"statistics", statistics}, {"affine", !one_in(4)}, {"eps", Decimal{eps}}}));
  }
}

/// None, or one of those there are, in one of its forms; relu most often.
void add_activation(Plan& plan) {
  std::vector<std::pair<int, const ActivationForms*>> choices{{1, nullptr}};
  for (const auto& each : activations_by_kind()) choices.emplace_back(each.kind == kinds::relu ? 4 : 1, &each);
  const ActivationForms* drawn = pick(choices);
  if (drawn == nullptr) return;
  const int forms = static_cast<int>(drawn->forms.size());
  plan.hidden.push_back(drawn->forms[static_cast<std::size_t>(forms == 1 ? 0 : one_of(forms))]);
}

void add_block(Plan& plan, int index) {
  plan.hidden.push_back(layer("linear", "fc" + std::to_string(index), {{"out", drawn_width()}, {"bias", !one_in(4)}}));
  add_norm(plan, index);
  add_activation(plan);
  if (one_in(5)) {
    const auto p = pick<std::string>({{1, "0.5"}, {1, "0.25"}, {1, "0.1"}});
    plan.hidden.push_back(layer("dropout", "drop" + std::to_string(index), {{"p", Decimal{p}}}));
  }
}

void choose_loss(Plan& plan) {
  if (one_in(3)) {
    plan.loss = choice("loss", "mse", {{"item_weights", one_in(3)}});
    return;
  }
  const auto smoothing = pick<std::string>({{4, "0"}, {1, "0.1"}});
  plan.loss = choice("loss", "cross_entropy", {{"label_smoothing", Decimal{smoothing}}});
  plan.outputs = std::max<std::int64_t>(plan.outputs, 2);
  plan.ignored_percent = pick<int>({{3, 0}, {1, 30}});
}

/// Rows that every micro-batch needs.
int least_rows(const Plan& plan) {
  int least = 1;
  for (const Layer& l : plan.hidden) {
    if (normalises_parts(l)) least = 2;
  }
  return least;
}

std::vector<std::int64_t> cut_window(int micro_batches, int least) {
  const std::int64_t rows = least + *inRange(0, 5);
  const bool equal = one_in(3);
  std::vector<std::int64_t> sizes;
  for (int k = 0; k < micro_batches; ++k) sizes.push_back(equal ? rows : least + *inRange(0, 5));
  return sizes;
}

/// The last of several windows: as many micro-batches as the first, one, all but one, or its own number.
int last_window(int first) {
  const int own = pick<int>({{1, 1}, {1, 2}, {1, 3}, {1, 5}});
  return pick<int>({{2, first}, {1, 1}, {1, std::max(first - 1, 1)}, {1, own}});
}

/// A window whose statistics are its own has two rows at least.
void cut_windows(Plan& plan) {
  const int least = least_rows(plan);
  plan.windows.clear();
  const int windows = pick<int>({{3, 1}, {3, 2}, {2, 3}});
  const int first = pick<int>({{1, 1}, {3, 2}, {3, 3}, {1, 5}, {1, 8}});
  for (int w = 0; w < windows; ++w) {
    const int micro_batches = w == 0 ? first : w + 1 == windows ? last_window(first) : pick<int>({{1, first}, {1, 2}});
    plan.windows.push_back(cut_window(micro_batches, least));
    if (plan.windows.back().size() == 1) plan.windows.back()[0] += 1;
  }
}

bool has_item_weights(const Plan& plan) {
  return plan.loss.kind == kinds::cross_entropy || plan.loss.flag("item_weights");
}

void choose_optimizer(Recipe& recipe) {
  const auto& further = further_optimizers();
  if (const int drawn = further.empty() ? 0 : one_of(static_cast<int>(further.size()) + 4); drawn >= 4 || one_in(3)) {
    recipe.optimizer = choice("optimizer", drawn >= 4 ? further[static_cast<std::size_t>(drawn - 4)] : "adam");
    return;
  }
  const auto momentum = pick<std::string>({{2, "0"}, {3, "0.9"}, {1, "0.5"}});
  const bool nesterov = momentum != "0" && one_in(3);
  const auto dampening = momentum == "0" || nesterov ? "0" : pick<std::string>({{3, "0"}, {1, "0.1"}});
  recipe.optimizer = choice(
      "optimizer", "sgd", {{"momentum", Decimal{momentum}}, {"dampening", Decimal{dampening}}, {"nesterov", nesterov}});
}

void choose_rate_and_decay(Recipe& recipe) {
  const int rate = pick<int>({{1, 0}, {1, 1}, {1, 2}});
  if (rate == 0) recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.1"}}});
  if (rate == 1) {
    recipe.learning_rate = choice("learning_rate", "step",
                                  {{"base", Decimal{"0.1"}}, {"every", std::int64_t{1}}, {"factor", Decimal{"0.5"}}});
  }
  if (rate == 2) {
    recipe.learning_rate = choice("learning_rate", "warmup_cosine",
                                  {{"base", Decimal{"0.1"}}, {"warmup", std::int64_t{2}}, {"total", std::int64_t{10}}});
  }
  const auto decay = pick<std::string>({{2, "none"}, {2, "l2"}, {1, "decoupled"}});
  recipe.weight_decay = choice("weight_decay", "none");
  if (decay == "none") return;
  recipe.weight_decay = choice("weight_decay", decay, {{"lambda", Decimal{"0.01"}}});
  if (one_in(4)) recipe.weight_decay.options["exclude"] = std::vector<std::string>{"bias", "norm"};
}

void choose_clip(Recipe& recipe) {
  const auto kind = pick<std::string>({{1, "none"}, {1, "value"}, {2, "global_norm"}});
  recipe.clip = choice("clip", "none");
  if (kind == kinds::value) recipe.clip = choice("clip", "value", {{"max_value", Decimal{"0.25"}}});
  if (kind != kinds::global_norm) return;
  const auto max_norm = pick<std::string>({{2, "0.25"}, {1, "1"}, {2, "3"}, {2, "1000"}});
  const auto norm = pick<std::string>({{4, "2"}, {1, "1"}, {1, "inf"}});
  recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{max_norm}}, {"norm", norm}});
}

void choose_scale(Plan& plan) {
  const auto kind = pick<std::string>({{2, "none"}, {1, "static"}, {2, "dynamic"}});
  const std::string large =
      format_row(plan.precision.storage).has_range_of_fp32() ? "65536" : "4096";  // else it overflows
  Options options;
  if (kind == kinds::fixed) {
    const auto scale = pick<std::string>({{2, "256"}, {2, "1000"}, {1, large}, {1, "1"}});
    options = {{"scale", Decimal{scale}}};
  }
  if (kind == kinds::dynamic) {
    const auto initial = pick<std::string>({{3, "1024"}, {1, "256"}, {1, large}, {1, "1000"}});
    options = {{"initial", Decimal{initial}}, {"growth_interval", pick<std::int64_t>({{2, 2}, {1, 1}, {1, 2000}})}};
  }
  plan.recipe.loss_scale = choice("loss_scale", kind, options);
}

Plan draw_plan(Dtype storage) {
  Plan plan;
  plan.precision.storage = storage;
  plan.seed = *inRange<std::uint64_t>(1, 1u << 20);
  plan.input = drawn_width();
  const int blocks = pick<int>({{2, 0}, {4, 1}, {1, 2}});
  for (int i = 1; i <= blocks; ++i) add_block(plan, i);
  plan.outputs = *inRange<std::int64_t>(1, 5);
  choose_loss(plan);
  cut_windows(plan);
  plan.empty_micro_batch = has_item_weights(plan) && one_in(6);
  choose_optimizer(plan.recipe);
  choose_rate_and_decay(plan.recipe);
  choose_clip(plan.recipe);
  choose_scale(plan);
  plan.execution.recompute = one_in(8);
  plan.recomputes_some = plan.seed % 2 == 1;
  return plan;
}

}  // namespace

rc::Gen<Plan> random_plan(Dtype storage) {
  return rc::gen::exec([storage] { return draw_plan(storage); });
}

void draw_values(Plan& plan) {
  static const char* classes[] = {"zeros_signed", "tiny", "powers", "halfway", "pairs", "outlier", "wide"};
  executor::Schedule random(plan.seed);
  const std::uint64_t drawn = random.below(2 * std::size(classes));  // every second plan has ordinary values
  plan.values = drawn < std::size(classes) ? classes[drawn] : "";
  plan.far_mean = random.below(8) == 0;
}

namespace {

/// Whether the plan as drawn has a use for the operation: a layer or loss of that kind, or a stage that it runs.
bool runs(const Plan& plan, const std::string& operation) {
  const std::string kind = operation.substr(0, operation.find('.'));
  if (kind == "norm") return plan.recipe.clip.kind == kinds::global_norm;
  if (find_contract("layer", kind) == nullptr) return find_contract("loss", kind) == nullptr || plan.loss.kind == kind;
  return kind == kinds::linear || std::ranges::any_of(plan.hidden, [&](const Layer& l) { return l.kind == kind; });
}

/// Whether the product of a weight gradient can leave the buffer's format.
bool adds_into_buffer(const Precision& precision) {
  if (precision.compute != Dtype::fp32) return precision.accumulate == precision.compute;
  return precision.accumulate == Dtype::fp32 || precision.accumulate == precision.storage;
}

/// How matrices are multiplied: by the model of a generation's tensor cores where the operands' format has any, in
/// parts of k, with the weight's gradient added to its buffer.
void draw_products(Plan& plan, executor::Schedule& random) {
  auto& kernels = plan.execution.kernels;
  const Precision& precision = plan.precision;
  if (random.below(3) == 0) {
    const GemmOrder::Kind kinds[] = {GemmOrder::Kind::tensor_core_v100, GemmOrder::Kind::tensor_core_a100,
                                     GemmOrder::Kind::tensor_core_h100};
    const GemmOrder::Kind kind = kinds[random.below(3)];
    if (runs_on_tensor_cores(kind, precision.storage, precision.tf32)) kernels["gemm"] = to_string({kind, 0});
  }
  if (random.below(8) == 0) kernels["gemm.math"] = precision.tf32 ? "tf32" : "default";
  if (random.below(4) == 0) kernels["gemm.split_k"] = std::to_string(2 + random.below(4));
  if (kernels.contains("gemm.split_k") && random.below(2) == 0) kernels["gemm.reduction"] = "result";
  if (random.below(4) == 0 && adds_into_buffer(precision)) kernels["linear.weight_gradient"] = "into_buffer";
}

}  // namespace

void draw_execution(Plan& plan) {
  executor::Schedule random(plan.seed ^ 0x5851f42d4c957f2dull);
  const auto drawn = [&] {
    const std::uint64_t number = random.next() >> 44;
    return number % 2 == 0 ? 0 : static_cast<std::int64_t>(number);
  };
  plan.execution.order = drawn();
  plan.execution.schedule = drawn();
  for (const auto& [operation, standard] : standard_kernels(ExecutorKind::host)) {
    const std::vector<std::string> variants = shipped_variants(operation, ExecutorKind::host);
    if (variants.size() < 2 || !runs(plan, operation) || random.below(2) == 0) continue;
    const std::string& variant = variants[random.below(variants.size())];
    if (variant != standard->claim.variant) plan.execution.kernels[operation] = variant;
  }
  for (const char* pass : {"unscale_check_norm", "clip_decay_step"}) {
    if (random.below(4) == 0) plan.execution.kernels[pass] = "multi_tensor";
  }
  draw_products(plan, random);
}

void draw_formats(Plan& plan) {
  executor::Schedule random(plan.seed ^ 0x2545f4914f6cdd1dull);
  if (random.below(2) == 0) return;
  const auto any_for = [&](bool FormatUses::*use) {
    const std::vector<Dtype> formats = formats_for(use);
    return formats[random.below(formats.size())];
  };
  Precision& precision = plan.precision;
  precision.accumulate = any_for(&FormatUses::accumulate);
  if (random.below(2) == 0) precision.master = random.below(4) == 0 ? any_for(&FormatUses::master) : precision.storage;
  const bool other = random.below(2) == 0;
  if (other && format_row(precision.storage).uses.compute) precision.compute = precision.storage;
  if (other && precision.storage == Dtype::fp32) precision.tf32 = true;
}

void showValue(const Plan& plan, std::ostream& out) { out << title_of(case_of(plan)); }

}  // namespace tally
