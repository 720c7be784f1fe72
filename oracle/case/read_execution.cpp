#include "oracle/case/read_execution.hpp"

#include <map>
#include <optional>
#include <utility>

#include "oracle/case/option.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/read_object.hpp"

namespace tally {
namespace {

std::int64_t read_drawing_number(ObjectReader& object, const char* key, Findings& findings) {
  const auto number = read_integer(object.optional(key), object.path(key), findings);
  if (number && *number < 0) findings.add(object.path(key), std::to_string(*number), "an integer >= 0");
  return number.value_or(0);
}

/// One number draws the schedule, a list writes it down.
void read_schedule(ObjectReader& object, Execution& execution, Findings& findings) {
  const Json* json = object.optional("schedule");
  if (json == nullptr || !json->is(Json::Kind::array)) {
    execution.schedule = read_drawing_number(object, "schedule", findings);
    return;
  }
  for (std::size_t i = 0; i < json->items.size(); ++i) {
    ObjectReader entry(&json->items[i], element_path(object.path("schedule"), i), findings);
    Preemption& preemption = execution.preemptions.emplace_back();
    for (auto [key, place] :
         {std::pair{"launch", &preemption.launch}, {"step", &preemption.step}, {"pick", &preemption.pick}}) {
      const auto number = read_integer(entry.required(key), entry.path(key), findings);
      if (number && *number < 1) findings.add(entry.path(key), std::to_string(*number), "an integer >= 1");
      *place = static_cast<std::uint64_t>(number.value_or(1));
    }
    entry.finish();
  }
}

/// A boolean for all layers, or the list of those that run again.
void read_recompute(ObjectReader& object, Execution& execution, Findings& findings) {
  const Json* json = object.optional("recompute");
  const std::string path = object.path("recompute");
  if (json == nullptr || !json->is(Json::Kind::array)) {
    execution.recompute = read_boolean(json, path, findings).value_or(false);
    return;
  }
  execution.recompute = true;
  if (json->items.empty()) findings.add(path, "[]", "the labels of layers, true for all of them, or false");
  for (std::size_t i = 0; i < json->items.size(); ++i)
    if (auto label = read_text(&json->items[i], element_path(path, i), findings))
      execution.recomputed.push_back(std::move(*label));
}

std::map<std::string, std::string> read_kernels(const Json* json, const std::string& path, Findings& findings) {
  std::map<std::string, std::string> kernels;
  if (json == nullptr) return kernels;
  if (!json->is(Json::Kind::object)) findings.add(path, shown(*json), "an object: operation -> variant");
  for (std::size_t i = 0; i < json->keys.size(); ++i)
    if (auto name = read_text(&json->items[i], member_path(path, json->keys[i]), findings))
      kernels[json->keys[i]] = std::move(*name);
  return kernels;
}

/// Keys that say what their absence would say are left out, so that a case has one text.
void read_ranks(const Json* json, const std::string& path, Execution& execution, Findings& findings) {
  if (json == nullptr) return;
  ObjectReader ranks(json, path, findings);
  std::map<std::string, std::optional<ObjectReader>> objects;
  for (const RankKey& key : rank_keys()) {
    ObjectReader* object = &ranks;
    if (!key.object.empty()) {
      auto& inner = objects[key.object];
      const Json* found = inner ? nullptr : ranks.optional(key.object);
      if (found != nullptr) inner.emplace(found, ranks.path(key.object), findings);
      if (!inner) continue;
      object = &*inner;
    }
    const Json* value = object->optional(key.option.name);
    const auto read =
        value == nullptr ? std::nullopt : read_option(key.option, *value, object->path(key.option.name), findings);
    if (read) set_rank_option(execution, key.name(), *read);
  }
  for (const auto& [name, object] : objects)
    if (object) object->finish();
  execution.ranks.kind = "ranks";
  ranks.finish();
}

}  // namespace

Execution read_execution(const Json* json, Findings& findings) {
  Execution execution;
  if (json == nullptr) return execution;
  ObjectReader object(json, "$.execution", findings);
  read_recompute(object, execution, findings);
  execution.order = read_drawing_number(object, "order", findings);
  read_schedule(object, execution, findings);
  execution.kernels = read_kernels(object.optional("kernels"), object.path("kernels"), findings);
  read_ranks(object.optional("ranks"), object.path("ranks"), execution, findings);
  object.finish();
  return execution;
}

}  // namespace tally
