// A case, written: in one line for people, as JSON, and hashed.
#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {
namespace {

std::string of_windows(const Case& c) {
  std::size_t most = 0;
  for (const auto& window : c.windows) most = std::max(most, window.size());
  const std::string stages = is_pipelined(c) ? ", " + std::to_string(stages_of(c)) + " stages" : "";
  std::string ranks;
  for (const Generation& each : generations_of(c)) ranks += (ranks.empty() ? "" : "/") + std::to_string(each.ranks);
  return (c.dealt.empty() ? "" : ", " + ranks + " ranks") + stages + ", K = " + std::to_string(most) + ", " +
         std::to_string(c.windows.size()) + (c.windows.size() == 1 ? " window, " : " windows, ") +
         c.recipe.optimizer.kind;
}

}  // namespace

std::string formats_of(const Precision& precision) {
  std::string words(name_of(precision.storage));
  const auto add = [&](const char* what, Dtype dtype) {
    if (dtype != Dtype::fp32) words += std::string(", ") + what + " " + std::string(name_of(dtype));
  };
  add("accumulator", precision.compute);
  add("buffer", precision.accumulate);
  add("master", precision.master);
  return words + (precision.tf32 ? ", TF32" : "");
}

std::string title_of(const Case& c) {
  if (is_opaque(c.model))
    return formats_of(c.precision) + ", opaque, " + std::to_string(parameters_of(c.model).size()) + " tensors, " +
           c.model.loss.kind + of_windows(c);
  std::string sizes = c.model.tokens ? "" : std::to_string(c.model.input), kinds;
  for (const Layer& l : c.model.layers) {
    if (l.kind == kinds::linear) {
      sizes += "-" + std::to_string(l.integer("out"));
    } else if (l.kind == kinds::embedding) {
      sizes += std::to_string(c.model.input) + " tokens-" + std::to_string(l.integer("width"));
    } else {
      kinds += ", " + l.kind;
    }
  }
  return formats_of(c.precision) + ", linear " + sizes + kinds + ", " + c.model.loss.kind + of_windows(c);
}

namespace {

Json integers(const std::vector<std::int64_t>& values) {
  Json list = Json::array();
  for (const std::int64_t value : values) list.items.push_back(Json::of_number(std::to_string(value)));
  return list;
}

Json word(std::string_view text) { return Json::of_string(std::string(text)); }

Json words(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.items.push_back(word(text));
  return list;
}

Json model_json(const Model& model) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    Choice written = layer;
    if (!layer.tied.empty()) written.options.erase(contract_of("layer", layer).tied_sets);
    layers.items.push_back(write_choice(written, "layer"));
    if (!layer.tied.empty()) layers.items.back().add("tied", word(layer.tied));
    if (!layer.name.empty()) layers.items.back().add("name", word(layer.name));
    if (!layer.trainable) layers.items.back().add("trainable", Json::of_boolean(false));
    if (reads_layer_before(model, i)) continue;
    layers.items.back().add("inputs", words(layer.inputs));
  }
  Json json = Json::object();
  Json input = Json::of_number(std::to_string(model.input));
  if (model.tokens)
    json.add("input", Json::object()).add("vocabulary", std::move(input));
  else
    json.add("input", std::move(input));
  json.add("layers", std::move(layers));
  json.add("loss", write_choice(model.loss, "loss"));
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

/// What stands for a tensor's elements: they themselves, the drawing that makes them, or a mark that no text holds.
enum class Elements { all, drawn, marked };
constexpr std::string_view mark = "\x01";

Json elements_json(const Tensor& tensor) {
  Json data = Json::array();
  for (std::size_t i = 0; i < tensor.elements(); ++i) data.items.push_back(canonical_element(tensor, i));
  return data;
}

Json tensor_json(const Tensor& tensor, Elements elements) {
  Json json = Json::object();
  json.add("dtype", word(name_of(tensor.dtype)));
  json.add("shape", integers(tensor.shape));
  if (elements == Elements::drawn && is_drawn(tensor))
    json.add("drawing", drawing_json(*tensor.drawing));
  else
    json.add("data", elements == Elements::marked ? Json::of_number(std::string(mark)) : elements_json(tensor));
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

Json ranks_json(const Choice& ranks) {
  Json json = Json::object();
  for (const RankKey& key : rank_keys()) {
    const auto said = ranks.options.find(key.name());
    if (said == ranks.options.end()) continue;
    Json* object = &json;
    if (!key.object.empty()) {
      const auto known = std::ranges::find(json.keys, key.object);
      object = known == json.keys.end() ? &json.add(key.object, Json::object())
                                        : &json.items[static_cast<std::size_t>(known - json.keys.begin())];
    }
    object->add(key.option.name, write_option(said->second));
  }
  return json;
}

/// Keys at their defaults are left out, so that a case written before they existed keeps its hash.
Json execution_json(const Execution& execution) {
  Json json = Json::object();
  if (execution.recompute && !execution.recomputed.empty())
    json.add("recompute", words(execution.recomputed));
  else
    json.add("recompute", Json::of_boolean(execution.recompute));
  if (execution.order != 0) json.add("order", Json::of_number(std::to_string(execution.order)));
  if (execution.schedule != 0) json.add("schedule", Json::of_number(std::to_string(execution.schedule)));
  if (!execution.preemptions.empty()) json.add("schedule", schedule_json(execution.preemptions));
  if (!execution.ranks.kind.empty()) json.add("ranks", ranks_json(execution.ranks));
  if (execution.kernels.empty()) return json;
  Json& kernels = json.add("kernels", Json::object());
  for (const auto& [operation, variant] : execution.kernels) kernels.add(operation, word(variant));
  return json;
}

/// The sizes of a window's micro-batches, of several ranks each rank's as a list of its own.
Json window_json(const Case& c, std::size_t window) {
  if (c.dealt.empty()) return integers(c.windows[window]);
  Json ranks = Json::array();
  for (std::size_t rank = 0; rank < c.dealt[window].size(); ++rank) {
    const auto first = c.windows[window].begin() + static_cast<std::ptrdiff_t>(first_micro_batch_of(c, window, rank));
    ranks.items.push_back(integers({first, first + c.dealt[window][rank]}));
  }
  return ranks;
}

/// `tensors` stays empty.
Json frame_json(const Case& c) {
  Json json = Json::object();
  json.add("tally_case", Json::of_number(std::to_string(version_of(c))));
  json.add("name", word(c.name));
  json.add("model", model_json(c.model));
  Json windows = Json::array();
  for (std::size_t w = 0; w < c.windows.size(); ++w) windows.items.push_back(window_json(c, w));
  json.add("windows", std::move(windows));
  if (!c.sequences.empty()) json.add("sequences", integers(c.sequences));
  json.add("normalisation", word(name_of(c.normalisation)));
  json.add("precision", precision_json(c.precision));
  Json recipe = Json::object();
  for (const RecipeSection& section : recipe_sections)
    recipe.add(std::string(section.name), write_choice(c.recipe.*section.choice, section.name));
  json.add("recipe", std::move(recipe));
  json.add("execution", execution_json(c.execution));
  json.add("tensors", Json::object());
  return json;
}

Json whole_json(const Case& c, Elements elements) {
  Json json = frame_json(c);
  for (const auto& [name, tensor] : c.tensors) json.items.back().add(name, tensor_json(tensor, elements));
  return json;
}

constexpr std::size_t longest_part = 1 << 16;

/// The canonical text in parts, a tensor's elements some thousand at a time.
template <class Take>
void each_part(const Case& c, Take&& take) {
  const std::string frame = to_text(whole_json(c, Elements::marked), JsonLayout::readable);
  std::size_t done = 0;
  // The frame names tensors in the order of their names, as the map does.
  for (const auto& [name, tensor] : c.tensors) {
    const std::size_t place = frame.find(mark, done);
    take(std::string_view(frame).substr(done, place - done));
    done = place + mark.size();
    std::string part = "[";
    for (std::size_t i = 0, all = tensor.elements(); i < all; ++i) {
      if (i > 0) part += ", ";
      append_canonical(part, tensor, i);
      if (part.size() < longest_part) continue;
      take(part);
      mapped_bytes_read(part.size());
      part.clear();
    }
    take(part + "]");
  }
  take(std::string_view(frame).substr(done));
}

}  // namespace

Json json_of(const Case& c, bool drawings) { return whole_json(c, drawings ? Elements::drawn : Elements::all); }

std::string write_case_beside_tensors(const Case& c) {
  std::string text = to_text(frame_json(c), JsonLayout::compact);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string write_case(const Case& c) {
  std::string text;
  each_part(c, [&](std::string_view part) { text += part; });
  return text;
}

std::string hash_of(const Case& c) {
  Sha256 hash;
  each_part(c, [&](std::string_view part) { hash.add(part); });
  return hash.digits();
}

}  // namespace tally
