// All rules, in order, each with the parts of the case that it needs intact.
#include "oracle/case/rules/rules.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "oracle/case/file/json.hpp"

namespace tally {
namespace {

struct Rule {
  void (*check)(const Case&, Findings&);
  std::vector<std::string_view> needs;
  bool of_tensors = false;  // it finds something in tensors alone
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{
      {check_choices, {}},
      {check_names, {"$.model.layers"}},
      {check_graph, {"$.model.layers"}},
      {check_token_layers, {"$.model.layers", "$.model.input"}},
      {check_tied, {"$.model.layers", "$.model.input"}},
      {check_trainable, {"$.model.layers"}},
      {check_windows, {"$.windows"}},
      {check_sequences, {"$.model", "$.windows"}},
      {check_precision, {"$.precision"}},
      {check_sizes, {"$.model", "$.windows"}},
      {check_statistics, {"$.model", "$.windows"}},
      {check_class_weights, {"$.model"}},
      {check_recipe, {}},
      {check_excluded, {"$.model", "$.recipe.weight_decay"}},
      {check_tensor_shapes, {"$.model", "$.windows", "$.precision", "$.recipe.optimizer"}, true},
      {check_optimizer_state, {"$.model", "$.recipe.optimizer"}},
      {check_tensor_values, {"$.model"}, true},
      {check_state_values, {"$.model", "$.recipe.optimizer"}},
      {check_step, {"$.windows"}},
      {check_gemm_choices, {"$.precision"}},
      {check_grid_choice, {}},
      {check_recomputed, {"$.model.layers"}},
      {check_ranks, {"$.model.layers", "$.windows"}},
      {check_targets, {"$.model"}},
      {check_tokens, {"$.model"}},
      {check_positions, {"$.model"}},
      {check_passes, {"$.model", "$.windows", "$.sequences", "$.recipe", "$.tensors.step"}},
  };
  return all;
}

}  // namespace

void apply_rules(const Case& c, Findings& findings, bool with_tensors) {
  for (const Rule& rule : rules())
    if ((with_tensors || !rule.of_tensors) &&
        std::all_of(rule.needs.begin(), rule.needs.end(), [&](std::string_view path) { return findings.sound(path); }))
      rule.check(c, findings);
}

std::string tensor_path(const std::string& name) { return member_path("$.tensors", name); }

}  // namespace tally
