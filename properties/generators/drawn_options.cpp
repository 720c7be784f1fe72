// What plans are drawn with: sizes, norms, options away from their usual values, elementwise layers, optimizers.
#include "properties/generators/drawn_options.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/device/executor/schedule.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/training_step/kind_steps.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/sizes.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/settings.hpp"

namespace tally {

std::int64_t drawn_size(std::string_view name, executor::Schedule& random, std::int64_t most, std::int64_t least) {
  constexpr std::uint64_t small = 4;
  const std::int64_t first = std::max(least, declared_size(name).least);
  const bool is_small = random.below(2) == 0;
  const std::uint64_t more = random.below(small), at = random.next();
  std::vector<std::int64_t> values = values_around_edges(name);
  std::erase_if(values, [&](std::int64_t value) { return value < first || value > most; });
  if (is_small || values.empty()) return std::min(most, first + static_cast<std::int64_t>(more));
  return values[at % values.size()];
}

std::vector<std::string> norms_of_rows() {
  std::vector<std::string> kinds;
  for (const Contract* contract : contracts_of("layer"))
    if (contract->norm && !contract->row_statistics.empty()) kinds.push_back(contract->kind);
  return kinds;
}

void draw_norms(Plan& plan) {
  constexpr std::uint64_t apart_of_kinds = 0x6c8e9cf5u;
  executor::Schedule random(plan.seed ^ apart_of_kinds);
  const std::vector<std::string> kinds = norms_of_rows();
  for (Layer& drawn : plan.hidden) {
    if (drawn.kind != kinds::layer_norm) continue;
    const std::string& kind = kinds[random.below(kinds.size())];
    if (kind != drawn.kind) drawn = layer(kind, drawn.name, {{"affine", drawn.flag("affine")}});
  }
}

namespace {

constexpr std::uint64_t one_case_in = 4;

class OptionDrawer {
 public:
  explicit OptionDrawer(Plan& plan) : plan_(plan), random_(plan.seed ^ 0x9fb21c651e98df25ull) {}

  void draw() {
    for (Layer& layer : plan_.hidden) draw_in("layer", layer);
    draw_in("loss", plan_.loss);
    for (const RecipeSection& section : recipe_sections) draw_in(section.name, plan_.recipe.*section.choice);
  }

 private:
  void draw_in(std::string_view section, Choice& choice) {
    const Contract& contract = *find_contract(section, choice.kind);
    for (const Option& option : contract.options) {
      if (option.since > 1) continue;  // drawn with the models that it is for
      const auto values = values_worth_drawing(contract, option);
      if (random_.below(one_case_in) != 0 || values.empty()) continue;
      const OptionValue before = choice.options.at(option.name);
      choice.options[option.name] = as_long_as(values[random_.below(values.size())], plan_.outputs);
      if (broken_rule(plan_)) choice.options[option.name] = before;
    }
  }

  Plan& plan_;
  executor::Schedule random_;
};

}  // namespace

void draw_options(Plan& plan) { OptionDrawer(plan).draw(); }

void fit_options(Plan& plan) {
  for (auto& [name, value] : plan.loss.options) {
    const auto* numbers = std::get_if<std::vector<Decimal>>(&value);
    if (numbers != nullptr && !numbers->empty() && std::ssize(*numbers) != plan.outputs)
      value = as_long_as(value, plan.outputs);
  }
  if (optimizer_steps(plan.recipe.optimizer).fuse == nullptr) plan.execution.kernels.erase("clip_decay_step");
  if (plan.loss.kind != kinds::cross_entropy) plan.execution.kernels.erase("head_loss");
  if (const auto math = plan.execution.kernels.find("gemm.math"); math != plan.execution.kernels.end())
    if (math->second == "tf32" && !plan.precision.tf32) math->second = "default";
}

namespace {

bool is_elementwise(const std::string& family) {
  const StandardKernels& kernels = standard_kernels(ExecutorKind::host);
  const auto forward = kernels.find(family + ".forward");
  return forward != kernels.end() && forward->second->arguments == typeid(ActivationArguments);
}

/// The words that choose between a layer's kernels.
const std::vector<std::string>& kernel_words(const Contract& contract) {
  return std::ranges::find(contract.options, contract.kernels_by, &Option::name)->words;
}

/// The elementwise forms of a kind; none where its kernels are not elementwise.
std::vector<Layer> forms_of(const Contract& contract) {
  if (contract.kernels_by.empty())
    return is_elementwise(contract.kind) ? std::vector{layer(contract.kind)} : std::vector<Layer>{};
  std::vector<Layer> forms;
  for (const std::string& word : kernel_words(contract)) {
    if (is_elementwise(contract.kind + "_" + word))
      forms.push_back(layer(contract.kind, "", {{contract.kernels_by, word}}));
  }
  return forms;
}

std::size_t place_of(const ActivationForms& activation) {
  static constexpr std::array known{"relu", "tanh", "sigmoid", "gelu"};
  return static_cast<std::size_t>(std::ranges::find(known, activation.kind) - known.begin());
}

}  // namespace

const std::vector<ActivationForms>& activations_by_kind() {
  static const std::vector<ActivationForms> all = [] {
    std::vector<ActivationForms> found;
    for (const Contract* contract : drawn_contracts_of("layer")) {
      if (auto forms = forms_of(*contract); !forms.empty()) found.push_back({contract->kind, std::move(forms)});
    }
    std::ranges::stable_sort(found, {}, place_of);
    return found;
  }();
  return all;
}

const std::vector<Layer>& activations() {
  static const std::vector<Layer> all = [] {
    std::vector<Layer> found;
    for (const ActivationForms& activation : activations_by_kind())
      found.insert(found.end(), activation.forms.begin(), activation.forms.end());
    return found;
  }();
  return all;
}

const std::vector<std::string>& gate_activations() { return kernel_words(*find_contract("layer", "gated")); }

const std::vector<std::string>& further_optimizers() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> found;
    for (const Contract* contract : drawn_contracts_of("optimizer"))
      if (contract->kind != kinds::sgd && contract->kind != kinds::adam) found.push_back(contract->kind);
    return found;
  }();
  return all;
}

}  // namespace tally
