// A case, read from its JSON.
#include <filesystem>
#include <stdexcept>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rules/rules.hpp"
#include "oracle/case/tensors/regular_file.hpp"

namespace tally {
namespace {
std::vector<std::string> read_inputs(const Json* json, const std::string& path, Findings& findings) {
  std::vector<std::string> names;
  if (json == nullptr) return names;
  if (!json->is(Json::Kind::array) || json->items.empty() || json->items.size() > most_layer_inputs)
    findings.add_broken(path, shown(*json),
                        "a list of 1 to " + std::to_string(most_layer_inputs) + " names of earlier layers");
  else
    for (std::size_t j = 0; j < json->items.size(); ++j)
      names.push_back(read_text(&json->items[j], element_path(path, j), findings).value_or(""));
  return names;
}

Layer read_layer(const Json& json, const std::string& path, Findings& findings) {
  ObjectReader object(&json, path, findings);
  Layer layer;
  const Json* tied = object.optional("tied");
  static_cast<Choice&>(layer) = read_choice(object, "layer", tied == nullptr ? "" : "out");
  const Json* name = object.optional("name");
  layer.name = read_text(name, object.path("name"), findings).value_or("");
  if (name != nullptr && layer.name.empty() && findings.sound(object.path("name")))
    findings.add_broken(object.path("name"), "\"\"", "letters, digits, _ and -");
  layer.inputs = read_inputs(object.optional("inputs"), object.path("inputs"), findings);
  if (tied != nullptr) layer.tied = read_text(tied, object.path("tied"), findings).value_or("");
  if (tied != nullptr && layer.tied.empty() && findings.sound(object.path("tied")))
    findings.add_broken(object.path("tied"), "\"\"", "the name of an embedding");
  layer.trainable = read_boolean(object.optional("trainable"), object.path("trainable"), findings).value_or(true);
  if (!layer.kind.empty()) object.finish();
  return layer;
}

/// What a tied layer leaves out, its table says: as many outputs as there are tokens.
void fill_tied_layers_in(Model& model) {
  for (Layer& layer : model.layers) {
    const Contract* contract = find_contract("layer", layer.kind);
    if (contract != nullptr && !contract->tied_sets.empty())
      layer.options.emplace(contract->tied_sets, model.input);  // unless it was written, or is said to be missing
  }
}

/// A list that says no more than its absence would is left out, so that a case has one text.
void leave_plain_inputs_out(Model& model) {
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Contract* contract = find_contract("layer", model.layers[i].kind);
    if (contract != nullptr && contract->least_inputs == 1 && reads_layer_before(model, i))
      model.layers[i].inputs.clear();
  }
}

/// The features of x, or `{"vocabulary": V}` of tokens.
void read_input(const Json* json, const std::string& path, Model& model, Findings& findings) {
  if (json != nullptr && !json->is(Json::Kind::object) && !json->is(Json::Kind::number)) {
    findings.add_broken(path, shown(*json), "the features of x, or {\"vocabulary\": 11} of tokens");
    model.input = 1;
    return;
  }
  model.tokens = json != nullptr && json->is(Json::Kind::object);
  if (!model.tokens) {
    model.input = read_integer(json, path, findings).value_or(1);
    return;
  }
  ObjectReader object(json, path, findings);
  model.input = read_integer(object.required("vocabulary"), object.path("vocabulary"), findings).value_or(1);
  if (model.input < 1) {
    findings.add_broken(object.path("vocabulary"), std::to_string(model.input), "an integer >= 1");
    model.input = 1;
  }
  object.finish();
}

Model read_model(const Json* json, Findings& findings) {
  ObjectReader object(json, "$.model", findings);
  Model model;
  read_input(object.required("input"), object.path("input"), model, findings);
  const Json* layers = object.required("layers");
  if (layers != nullptr && !layers->is(Json::Kind::array))
    findings.add_broken(object.path("layers"), shown(*layers), "a list of layers");
  else if (layers != nullptr && layers->items.size() > most_layers)
    findings.add_broken(object.path("layers"), shown(*layers), "at most " + std::to_string(most_layers) + " layers");
  else if (layers != nullptr)
    for (std::size_t i = 0; i < layers->items.size(); ++i)
      model.layers.push_back(read_layer(layers->items[i], element_path(object.path("layers"), i), findings));
  leave_plain_inputs_out(model);
  fill_tied_layers_in(model);
  if (const Json* loss = object.required("loss")) {
    ObjectReader loss_object(loss, object.path("loss"), findings);
    model.loss = read_choice(loss_object, "loss");
    if (!model.loss.kind.empty()) loss_object.finish();
  }
  object.finish();
  return model;
}

std::vector<std::int64_t> read_sequences(const Json* json, Findings& findings) {
  std::vector<std::int64_t> lengths;
  if (json == nullptr) return lengths;
  if (!json->is(Json::Kind::array) || json->items.empty())
    findings.add_broken("$.sequences", shown(*json), "a list of lengths");
  for (std::size_t i = 0; json->is(Json::Kind::array) && i < json->items.size(); ++i)
    lengths.push_back(read_integer(&json->items[i], element_path("$.sequences", i), findings).value_or(1));
  return lengths;
}

Normalisation read_normalisation(const Json* json, Findings& findings) {
  std::vector<std::string> words;
  for (const Normalisation normalisation : normalisations) words.emplace_back(name_of(normalisation));
  const auto word = read_word(json, "$.normalisation", words, findings);
  for (const Normalisation normalisation : normalisations)
    if (word && *word == name_of(normalisation)) return normalisation;
  return Normalisation::window_items;
}

Precision read_precision(const Json* json, Findings& findings) {
  ObjectReader object(json, "$.precision", findings);
  Precision precision;
  for (const PrecisionKey& key : precision_keys)
    if (const auto word = read_word(object.required(key.name), object.path(key.name), words_of(key), findings))
      precision.*key.dtype = *dtype_of(*word);
  precision.tf32 = read_boolean(object.required("tf32"), object.path("tf32"), findings).value_or(false);
  object.finish();
  return precision;
}

Recipe read_recipe(const Json* json, Findings& findings) {
  ObjectReader object(json, "$.recipe", findings);
  Recipe recipe;
  for (const RecipeSection& section : recipe_sections) {
    const Json* found = object.required(section.name);
    if (found == nullptr) continue;
    ObjectReader choice(found, object.path(section.name), findings);
    recipe.*section.choice = read_choice(choice, section.name);
    if (!(recipe.*section.choice).kind.empty()) choice.finish();
  }
  object.finish();
  return recipe;
}

Case case_of_json(const Json& json, const TensorSources& sources, Findings& findings) {
  ObjectReader object(&json, "$", findings);
  const auto version = read_integer(object.required("tally_case"), object.path("tally_case"), findings);
  if (version && (*version < 1 || *version > newest_version))
    findings.add("$.tally_case", std::to_string(*version), "1, 2 or 3");
  Case c;
  c.name = read_text(object.optional("name"), object.path("name"), findings).value_or("");
  c.model = read_model(object.required("model"), findings);
  read_windows(object.required("windows"), c, findings);
  c.sequences = read_sequences(object.optional("sequences"), findings);
  c.normalisation = read_normalisation(object.optional("normalisation"), findings);
  c.precision = read_precision(object.required("precision"), findings);
  c.recipe = read_recipe(object.required("recipe"), findings);
  c.execution = read_execution(object.optional("execution"), findings);
  if (!c.dealt.empty() && c.execution.ranks.options.empty()) c.execution.ranks.kind.clear();
  if (version && *version < version_of(c))
    findings.add("$.tally_case", std::to_string(*version),
                 std::to_string(version_of(c)) + ", as " + what_needs_version(c));
  if (const Json* tensors = object.required("tensors"))
    c.tensors = read_tensors(*tensors, object.path("tensors"), sources, findings);
  object.finish();
  return c;
}

std::string contents_of(const std::filesystem::path& file) {
  try {
    return RegularFile(file).all(most_text);
  } catch (const std::runtime_error& reason) {
    throw InvalidCase(
        {{"$", "no readable file at " + json_string(file.string()) + ": " + reason.what(), "a case file"}});
  }
}

/// A token's case has tensors of a token's size: a few letters may stand for any.
void check_token_size(const Case& c, Findings& findings) {
  std::size_t elements = 0;
  const auto rows = static_cast<std::size_t>(rows_of(c));
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    elements += rows * static_cast<std::size_t>(features_after(c.model, i));
  if (elements > most_token_elements)
    findings.add("$.windows", std::to_string(elements) + " elements of activations",
                 "at most " + std::to_string(most_token_elements) + " in a token");
  if (most_ranks_of(c) == 1) return;
  std::size_t parameters = 0;
  for (const std::string& p : weights_of(c.model)) parameters += c.tensors.at(p).elements();
  if (parameters > most_token_elements / most_ranks_of(c))
    findings.add("$.windows",
                 std::to_string(most_ranks_of(c)) + " ranks of " + std::to_string(parameters) + " parameters",
                 "at most " + std::to_string(most_token_elements) + " on all ranks in a token");
}

}  // namespace

Case unpack_case(std::string_view text, const TensorSources& sources) {
  Findings findings;
  if (text.size() > most_text)
    throw InvalidCase({{"$", "more than " + std::to_string(most_text) + " bytes", "a case file"}});
  const auto json = parse_json(text, findings);
  Case c;
  if (json) {
    c = case_of_json(*json, sources, findings);
    apply_rules(c, findings);
    if (sources.drawings && findings.empty()) check_token_size(c, findings);
  }
  if (!findings.empty()) throw InvalidCase(findings.errors());
  return c;
}

Case read_case_beside_tensors(std::string_view text, std::map<std::string, Tensor> tensors) {
  Findings findings;
  const auto json = parse_json(text, findings);
  Case c;
  if (json) c = case_of_json(*json, {}, findings);
  if (!findings.empty()) throw InvalidCase(findings.errors());
  c.tensors = std::move(tensors);
  return c;
}

Case read_case(std::string_view json, const std::filesystem::path& folder) {
  return unpack_case(json, {folder, false});
}

Case read_case_file(const std::filesystem::path& file) {
  return read_case(contents_of(file), file.has_parent_path() ? file.parent_path() : std::filesystem::path("."));
}

std::vector<CaseError> validate(const Case& c) {
  Findings findings;
  apply_rules(c, findings);
  return findings.errors();
}

}  // namespace tally
