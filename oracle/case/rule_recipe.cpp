#include "oracle/case/rules.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

void check_section(const std::string& section, const Choice& choice, Findings& findings) {
  const std::string path = "$.recipe." + section;
  if (!findings.sound(path)) return;
  for (const Misfit& misfit : find_contract(section, choice.kind)->misfits(choice))
    findings.add(path + "." + misfit.option, misfit.found, misfit.expected);
}

}  // namespace

void check_recipe(const Case& c, Findings& findings) {
  check_section("optimizer", c.recipe.optimizer, findings);
  check_section("learning_rate", c.recipe.learning_rate, findings);
  check_section("weight_decay", c.recipe.weight_decay, findings);
  check_section("clip", c.recipe.clip, findings);
  check_section("loss_scale", c.recipe.loss_scale, findings);
}

}  // namespace tally
