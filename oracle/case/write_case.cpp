#include "oracle/case/choice.hpp"
#include "oracle/case/element.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/packed_case.hpp"
#include "oracle/case/sections.hpp"

namespace tally {
namespace {

Json integers(const std::vector<std::int64_t>& values) {
  Json list = Json::array();
  for (const std::int64_t value : values) list.items.push_back(Json::of_number(std::to_string(value)));
  return list;
}

Json word(std::string_view text) { return Json::of_string(std::string(text)); }

Json model_json(const Model& model) {
  Json layers = Json::array();
  for (const Layer& layer : model.layers) {
    layers.items.push_back(write_choice(layer));
    if (!layer.name.empty()) layers.items.back().add("name", word(layer.name));
  }
  Json json = Json::object();
  json.add("input", Json::of_number(std::to_string(model.input)));
  json.add("layers", std::move(layers));
  json.add("loss", write_choice(model.loss));
  return json;
}

Json precision_json(const Precision& precision) {
  Json json = Json::object();
  for (const PrecisionKey& key : precision_keys) json.add(std::string(key.name), word(name_of(precision.*key.dtype)));
  json.add("tf32", Json::of_boolean(precision.tf32));
  return json;
}

/// The drawing stands for the bytes only while it still makes them.
bool is_drawn(const Tensor& tensor) {
  if (!tensor.drawing) return false;
  Tensor redrawn(tensor.dtype, tensor.shape);
  draw(redrawn, *tensor.drawing);
  return redrawn == tensor;
}

Json drawing_json(const Drawing& drawing) {
  Json json = Json::array();
  json.items = {Json::of_number(std::to_string(drawing.number)), Json::of_number(std::to_string(drawing.seed)),
                word(drawing.family)};
  return json;
}

Json tensor_json(const Tensor& tensor, bool drawings) {
  Json json = Json::object();
  json.add("dtype", word(name_of(tensor.dtype)));
  json.add("shape", integers(tensor.shape));
  if (drawings && is_drawn(tensor)) {
    json.add("drawing", drawing_json(*tensor.drawing));
    return json;
  }
  Json data = Json::array();
  for (std::size_t i = 0; i < tensor.elements(); ++i) data.items.push_back(canonical_element(tensor, i));
  json.add("data", std::move(data));
  return json;
}

Json schedule_json(const std::vector<Preemption>& preemptions) {
  Json list = Json::array();
  for (const Preemption& each : preemptions) {
    Json entry = Json::object();
    entry.add("launch", Json::of_number(std::to_string(each.launch)));
    entry.add("step", Json::of_number(std::to_string(each.step)));
    entry.add("pick", Json::of_number(std::to_string(each.pick)));
    list.items.push_back(std::move(entry));
  }
  return list;
}

/// Keys at their defaults are left out, so that a case written before they existed keeps its hash.
Json execution_json(const Execution& execution) {
  Json json = Json::object();
  json.add("recompute", Json::of_boolean(execution.recompute));
  if (execution.order != 0) json.add("order", Json::of_number(std::to_string(execution.order)));
  if (execution.schedule != 0) json.add("schedule", Json::of_number(std::to_string(execution.schedule)));
  if (!execution.preemptions.empty()) json.add("schedule", schedule_json(execution.preemptions));
  if (execution.kernels.empty()) return json;
  Json& kernels = json.add("kernels", Json::object());
  for (const auto& [operation, variant] : execution.kernels) kernels.add(operation, word(variant));
  return json;
}

}  // namespace

Json json_of(const Case& c, bool drawings) {
  Json json = Json::object();
  json.add("tally_case", Json::of_number("1"));
  json.add("name", word(c.name));
  json.add("model", model_json(c.model));
  Json windows = Json::array();
  for (const auto& window : c.windows) windows.items.push_back(integers(window));
  json.add("windows", std::move(windows));
  json.add("normalisation", word(name_of(c.normalisation)));
  json.add("precision", precision_json(c.precision));
  Json recipe = Json::object();
  for (const RecipeSection& section : recipe_sections)
    recipe.add(std::string(section.name), write_choice(c.recipe.*section.choice));
  json.add("recipe", std::move(recipe));
  json.add("execution", execution_json(c.execution));
  Json& tensors = json.add("tensors", Json::object());
  for (const auto& [name, tensor] : c.tensors) tensors.add(name, tensor_json(tensor, drawings));
  return json;
}

std::string write_case(const Case& c) { return to_text(json_of(c, false), JsonLayout::readable); }

std::string hash_of(const Case& c) { return sha256(write_case(c)); }

}  // namespace tally
