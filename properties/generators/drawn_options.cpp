#include "properties/generators/drawn_options.hpp"

#include <algorithm>

#include "kernels/device/executor/schedule.hpp"
#include "kernels/training_step/kind_steps.hpp"
#include "oracle/case/sections.hpp"
#include "properties/generators/option_values.hpp"
#include "properties/generators/put_setting.hpp"

namespace tally {
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
  if (plan.loss.kind != "cross_entropy") plan.execution.kernels.erase("head_loss");
  if (const auto math = plan.execution.kernels.find("gemm.math"); math != plan.execution.kernels.end())
    if (math->second == "tf32" && !plan.precision.tf32) math->second = "default";
}

}  // namespace tally
