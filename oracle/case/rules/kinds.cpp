// Rules of what the chosen kinds ask: their options, what does not go together, the shapes and values of tensors.
#include <algorithm>
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/rules/rules.hpp"

namespace tally {

void check_choices(const Case& c, Findings& findings) {
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    check_choice(c.model.layers[i], "layer", element_path("$.model.layers", i), findings);
  if (findings.sound("$.model.loss")) check_choice(c.model.loss, "loss", "$.model.loss", findings);
  for (const RecipeSection& section : recipe_sections)
    check_choice(c.recipe.*section.choice, section.name, member_path("$.recipe", section.name), findings);
}

void check_precision(const Case& c, Findings& findings) {
  for (const PrecisionKey& key : precision_keys) {
    const Dtype dtype = c.precision.*key.dtype;
    if (!(format_row(dtype).uses.*key.use))
      findings.add_broken(member_path("$.precision", key.name), "\"" + std::string(name_of(dtype)) + "\"",
                          "one of " + quoted_list(words_of(key)));
  }
  const Precision& precision = c.precision;
  const bool narrow_sums = precision.compute != Dtype::fp32 && format_row(precision.compute).uses.compute;
  if (narrow_sums && precision.storage != precision.compute) {
    const std::string compute(name_of(precision.compute)), storage(name_of(precision.storage));
    findings.add("$.precision.compute", "\"" + compute + "\" with storage \"" + storage + "\"",
                 "\"fp32\", or storage \"" + compute + "\"");
  }
  if (precision.tf32 && (precision.storage != Dtype::fp32 || precision.compute != Dtype::fp32))
    findings.add("$.precision.tf32", "true without storage and compute \"fp32\"", "false");
}

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

/// Parameters that are named in full must be the model's.
void check_excluded(const Case& c, Findings& findings) {
  const auto found = c.recipe.weight_decay.options.find("exclude");
  if (found == c.recipe.weight_decay.options.end()) return;
  const std::vector<std::string>& excluded = c.recipe.weight_decay.texts("exclude");
  const std::vector<std::string> parameters = weights_of(c.model);
  for (std::size_t i = 0; i < excluded.size(); ++i) {
    const bool full = excluded[i].find('.') != std::string::npos;
    if (full && std::find(parameters.begin(), parameters.end(), excluded[i]) == parameters.end())
      findings.add(element_path("$.recipe.weight_decay.exclude", i), json_string(excluded[i]),
                   "\"bias\", \"norm\", \"embedding\" or a parameter of the model, such as " +
                       json_string(parameters.empty() ? "fc1.weight" : parameters.front()));
  }
}

/// All of the state or none of it: a parameter without a buffer beside others that have one is no state that training
/// passes through.
void check_optimizer_state(const Case& c, Findings& findings) {
  std::vector<std::string> missing;
  std::string present;
  for (const std::string& parameter : parameters_of(c.model)) {
    if (!c.tensors.contains(parameter)) continue;
    for (const auto& [index, state, name, shape] : kept_beside(c, parameter)) {
      if (c.tensors.contains(name))
        present = name;
      else if (findings.sound(tensor_path(name)))
        missing.push_back(name);
    }
  }
  if (present.empty()) return;
  for (const std::string& name : missing)
    findings.add_broken(tensor_path(name), "nothing", "optimizer state for all parameters, as there is " + present);
  if (counts_steps(c.recipe.optimizer) && !c.tensors.contains("step") && findings.sound(tensor_path("step")))
    findings.add_broken(tensor_path("step"), "nothing", "the steps taken so far, i64 [], as there is " + present);
}

namespace {

void check_tensor(const std::string& name, const Tensor& tensor, const ExpectedTensor& expected, Findings& findings) {
  const std::string wanted = described(expected.dtype, expected.shape);
  if (tensor.dtype != expected.dtype || tensor.shape != expected.shape)
    findings.add_broken(tensor_path(name), described(tensor.dtype, tensor.shape), wanted);
  else if (tensor.bytes.size() != elements_of(tensor.shape) * size_of(tensor.dtype))
    findings.add_broken(tensor_path(name), std::to_string(tensor.bytes.size()) + " bytes", wanted);
}

}  // namespace

void check_tensor_shapes(const Case& c, Findings& findings) {
  const auto expected = expected_tensors(c);
  for (const auto& [name, tensor] : c.tensors) {
    const auto found = expected.find(name);
    if (found != expected.end())
      check_tensor(name, tensor, found->second, findings);
    else
      findings.add_broken(tensor_path(name), "an unknown tensor", "a tensor of this model and optimizer");
  }
  for (const auto& [name, tensor] : expected)
    if (tensor.required && !c.tensors.contains(name) && findings.sound(tensor_path(name)))
      findings.add_broken(tensor_path(name), "nothing", described(tensor.dtype, tensor.shape));
}

namespace {

constexpr std::size_t most_reported = 8;

/// Notes the elements of a tensor that do not fulfil `holds`, the first few of them.
template <class Holds>
void check_elements(const Case& c, const std::string& name, const char* expected, Findings& findings, Holds holds) {
  const auto found = c.tensors.find(name);
  if (found == c.tensors.end() || !findings.sound(tensor_path(name))) return;
  const Tensor& tensor = found->second;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < tensor.elements() && wrong < most_reported; ++i)
    if (!holds(tensor.value(i))) {
      findings.add(element_path(tensor_path(name) + ".data", i), canonical_element(tensor, i).text, expected);
      ++wrong;
    }
  mapped_bytes_read(tensor.bytes.size());
}

bool finite(double value) { return std::isfinite(value); }
bool not_negative(double value) { return value >= 0; }

void check_layer(const Case& c, const Layer& layer, Findings& findings) {
  for (const LayerTensor& tensor : tensors_of(layer)) {
    const std::string name = layer.name + "." + tensor.name;
    if (tensor.role == Role::mask)
      check_elements(c, name, "0 or 1", findings, [](double value) { return value == 0 || value == 1; });
    if (tensor.role == Role::running && tensor.name == "running_var")
      check_elements(c, name, "a variance >= 0", findings, not_negative);
  }
}

}  // namespace

void check_tensor_values(const Case& c, Findings& findings) {
  for (const auto& [name, tensor] : c.tensors) check_elements(c, name, "a finite number", findings, finite);
  check_elements(c, "step", "a step >= 0", findings, not_negative);
  check_elements(c, "item_weight", "an item weight >= 0", findings, not_negative);
  for (const Layer& layer : c.model.layers) check_layer(c, layer, findings);
}

void check_state_values(const Case& c, Findings& findings) {
  for (const StateTensor* state : state_of(c.recipe.optimizer)) {
    if (!state->never_negative) continue;
    const std::string expected = "a " + state->word + " >= 0";
    for (const std::string& parameter : parameters_of(c.model))
      check_elements(c, state->name + "." + parameter, expected.c_str(), findings, not_negative);
  }
}

}  // namespace tally
