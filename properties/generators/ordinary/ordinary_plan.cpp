// Plans of ordinary networks, and what their training starts from.
#include "properties/generators/ordinary/ordinary_plan.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
namespace {

void choose_optimizer(Recipe& recipe, Lots& lots) {
  const std::string kind = lots.word({"adam", "adam", "adam", "sgd", "momentum", "momentum", "nesterov"});
  const bool adam = kind == kinds::adam, momentum = kind == "momentum" || kind == "nesterov";
  recipe.optimizer = adam ? choice("optimizer", "adam")
                          : choice("optimizer", "sgd",
                                   {{"momentum", Decimal{momentum ? "0.9" : "0"}}, {"nesterov", kind == "nesterov"}});
  const Decimal base{adam ? lots.word({"0.001", "0.001", "0.0003", "0.01"}) : lots.word({"0.1", "0.01", "0.05"})};
  const int schedule = lots.any({0, 0, 0, 1, 2});
  if (schedule == 0) recipe.learning_rate = choice("learning_rate", "constant", {{"base", base}});
  if (schedule == 1)
    recipe.learning_rate =
        choice("learning_rate", "step",
               {{"base", base}, {"every", lots.any<std::int64_t>({1, 30})}, {"factor", Decimal{"0.1"}}});
  if (schedule == 2)
    recipe.learning_rate =
        choice("learning_rate", "warmup_cosine",
               {{"base", base}, {"warmup", lots.any<std::int64_t>({0, 5, 100})}, {"total", std::int64_t{1000}}});
}

void choose_decay(Recipe& recipe, Lots& lots) {
  const bool adam = recipe.optimizer.kind == kinds::adam;
  const std::string kind =
      adam ? lots.word({"none", "none", "l2", "decoupled", "decoupled"}) : lots.word({"none", "l2", "l2"});
  recipe.weight_decay = choice("weight_decay", "none");
  if (kind == kinds::none) return;
  const Decimal lambda{kind == kinds::decoupled ? lots.word({"0.01", "0.01", "0.1"})
                                                : lots.word({"1e-4", "5e-4", "1e-2"})};
  recipe.weight_decay = choice("weight_decay", kind, {{"lambda", lambda}});
  if (lots.one_in(3)) recipe.weight_decay.options["exclude"] = std::vector<std::string>{"bias", "norm"};
}

void choose_clip(Recipe& recipe, Lots& lots) {
  const std::string kind = lots.word({"none", "none", "none", "global_norm", "global_norm", "value"});
  recipe.clip = choice("clip", "none");
  if (kind == kinds::global_norm)
    recipe.clip = choice("clip", kind, {{"max_norm", Decimal{lots.word({"1.0", "1.0", "0.5", "5.0"})}}});
  if (kind == kinds::value) recipe.clip = choice("clip", kind, {{"max_value", Decimal{lots.word({"0.5", "1.0"})}}});
}

/// GradScaler as it comes, for a range as fp16's and where a script leaves it on; a scale a person picked now and then.
void choose_scale(Plan& plan, Lots& lots) {
  const bool needed = !format_row(plan.precision.storage).has_range_of_fp32();
  const std::string kind =
      needed ? lots.word({"dynamic", "dynamic", "dynamic", "static"}) : lots.word({"none", "none", "none", "dynamic"});
  plan.recipe.loss_scale = choice("loss_scale", "none");
  if (kind == kinds::fixed) plan.recipe.loss_scale = choice("loss_scale", kind, {{"scale", Decimal{"1024"}}});
  if (kind == kinds::dynamic)
    plan.recipe.loss_scale = choice("loss_scale", kind, {{"initial", Decimal{lots.word({"65536", "65536", "1024"})}}});
}

std::vector<std::int64_t> window_of(std::int64_t rows, std::int64_t micro_batches) {
  std::vector<std::int64_t> window(static_cast<std::size_t>(micro_batches), rows / micro_batches);
  window.back() += rows % micro_batches;
  return window;
}

void choose_windows(Plan& plan, OrdinarySize size, Lots& lots) {
  const std::int64_t least = has_batch_statistics(plan) ? 2 : 1;
  if (size == OrdinarySize::huge) {
    plan.windows = {plan.hidden.empty() && plan.input > 1000 ? window_of(2, 2) : window_of(10'000, 2)};
    return;
  }
  std::int64_t rows = lots.any<std::int64_t>({4, 8, 16, 32, 32, 64});
  if (size == OrdinarySize::medium) rows = std::min<std::int64_t>(rows, 32);
  if (size == OrdinarySize::large) rows = std::min<std::int64_t>(rows, 16);
  if (size == OrdinarySize::true_size) rows = std::min<std::int64_t>(rows, 8);
  const std::int64_t micro_batches = std::min(lots.any<std::int64_t>({1, 2, 2, 3, 4, 4, 8}), rows / least);
  plan.windows = {
      window_of(rows, size < OrdinarySize::large ? micro_batches : std::min<std::int64_t>(2, micro_batches))};
  if (size >= OrdinarySize::large) return;
  const int windows = size == OrdinarySize::small ? lots.any({1, 1, 2, 3}) : lots.any({1, 1, 1, 2});
  plan.windows.resize(static_cast<std::size_t>(windows), plan.windows.front());
  if (windows > 1 && lots.one_in(2)) plan.windows.back() = {std::max<std::int64_t>(least + 1, rows / 3)};  // the tail
}

/// Mixed precision as it is practised; one plan in four with other formats.
void choose_formats(Plan& plan, Lots& lots) {
  Precision& precision = plan.precision;
  const int other = lots.any({0, 0, 0, 0, 0, 0, 1, 2});
  if (precision.storage == Dtype::fp32) {
    precision.tf32 = other == 1;
    if (other == 2) precision.accumulate = lots.any({Dtype::bf16, Dtype::fp16});
  } else {
    if (other == 1) precision.master = precision.storage;  // everything in 16 bits
    if (other != 0) precision.accumulate = precision.storage;
    if (other == 2 && format_row(precision.storage).uses.compute) precision.compute = precision.storage;
  }
}

/// Kernels and orders as shipped in three plans of four; small ones in half.
void choose_execution(Plan& plan, OrdinarySize size, Lots& lots) {
  if (lots.one_in(size == OrdinarySize::small ? 2 : 4)) plan.execution.order = lots.between(1, 1 << 20);
  if (size == OrdinarySize::small && lots.one_in(4)) plan.execution.schedule = lots.between(1, 1 << 20);
  if (size == OrdinarySize::small && lots.one_in(8)) plan.execution.recompute = true;
}

std::string structure_of(const Plan& plan) {
  if (plan.hidden.empty()) return "one linear layer";
  for (const Layer& l : plan.hidden) {
    if (l.kind == kinds::layer_norm || l.kind == kinds::batch_norm) return l.kind;
  }
  return "plain";
}

std::string optimizer_of(const Recipe& recipe) {
  const Choice& optimizer = recipe.optimizer;
  std::string name = optimizer.kind;
  if (name == "sgd" && optimizer.number("momentum").to_double() != 0)
    name = optimizer.flag("nesterov") ? "nesterov" : "momentum";
  return recipe.weight_decay.kind == kinds::none ? name : name + ", " + recipe.weight_decay.kind;
}

}  // namespace

std::string name_of(OrdinarySize size) {
  constexpr const char* names[] = {"small, 10 to 64", "medium, 96 to 256", "large, 300 to 512", "true, 10^5 to 10^6",
                                   "stages of 10^7"};
  return names[static_cast<std::size_t>(size)];
}

Plan ordinary_plan(Dtype storage, OrdinarySize size, std::uint64_t seed) {
  Lots lots(seed);
  Plan plan;
  plan.precision.storage = storage;
  plan.seed = static_cast<std::uint64_t>(lots.between(1, 1 << 20));
  choose_formats(plan, lots);
  choose_ordinary_model(plan, size, lots);
  choose_windows(plan, size, lots);
  plan.normalisation = lots.one_in(2) ? Normalisation::window_items : Normalisation::mean_of_means;
  choose_optimizer(plan.recipe, lots);
  choose_decay(plan.recipe, lots);
  choose_clip(plan.recipe, lots);
  choose_scale(plan, lots);
  choose_execution(plan, size, lots);
  return plan;
}

std::vector<std::pair<std::string, std::string>> traits_of(const Plan& plan) {
  const auto linear = std::ranges::count(plan.hidden, "linear", [](const Layer& l) { return l.kind; });
  std::string activation = "none";
  for (const Layer& l : plan.hidden) {
    if (find_contract("layer", l.kind)->tensors.empty()) activation = l.kind;
  }
  return {{"structure", structure_of(plan)},
          {"linear layers", std::to_string(linear + 1)},
          {"activation", activation},
          {"input", input_of(plan).empty() ? "normal" : input_of(plan)},
          {"initial values", initialisation_of(plan)},
          {"formats", formats_of(plan.precision)},
          {"loss", plan.loss.kind},
          {"optimizer", optimizer_of(plan.recipe)},
          {"clip", plan.recipe.clip.kind},
          {"loss scale", plan.recipe.loss_scale.kind},
          {"micro-batches", std::to_string(plan.windows.front().size())},
          {"windows", std::to_string(plan.windows.size())}};
}

namespace {

std::string of_linear(const std::string& initialisation, bool weight, std::int64_t features) {
  const std::string fan_in = std::to_string(features);
  if (initialisation == "he") return weight ? "he:" + fan_in : "zeros";
  if (initialisation == "constant") return weight ? "ratio:1:100" : "zeros";
  return "fan_in:" + fan_in;
}

}  // namespace

const std::vector<std::string>& initialisations() {
  static const std::vector<std::string> all{"pytorch", "he", "constant", "near_one"};
  return all;
}

std::string initialisation_of(const Plan& plan) {
  const auto slash = plan.values.find('/');
  return slash == std::string::npos ? "" : plan.values.substr(0, slash);
}

std::string input_of(const Plan& plan) {
  const auto slash = plan.values.find('/');
  return slash == std::string::npos ? plan.values : plan.values.substr(slash + 1);
}

std::string initial_family(const std::string& initialisation, const Layer& layer, const LayerTensor& tensor,
                           std::int64_t features) {
  bool known = false;
  for (const std::string& name : initialisations()) known = known || name == initialisation;
  if (!known) throw std::logic_error("no initialisation " + initialisation);
  if (tensor.name == "running_mean") return "zeros";
  if (tensor.name == "running_var") return "ones";
  const bool weight = tensor.name == "weight";
  if (layer.kind == kinds::linear) return of_linear(initialisation, weight, features);
  if (initialisation == "near_one") return weight ? "positive" : "uniform";
  return weight ? "ones" : "zeros";
}

}  // namespace tally
