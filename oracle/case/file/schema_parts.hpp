// What a JSON Schema is put together from: types, ranges, words, lists, objects.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oracle/case/file/json.hpp"
#include "oracle/case/file/parts.hpp"

namespace tally {

inline Json typed(const char* type) {
  Json json = Json::object();
  json.add("type", Json::of_string(type));
  return json;
}

inline Json words_json(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const std::string& word : words) list.items.push_back(write_option(word));
  return list;
}

inline Json one_of(const std::vector<std::string>& words) {
  Json json = Json::object();
  json.add("enum", words_json(words));
  return json;
}

inline Json list_of(Json items, const char* least = "0") {
  Json json = typed("array");
  json.add("items", std::move(items));
  json.add("minItems", Json::of_number(least));
  return json;
}

/// An object that allows no keys but its own; `required` holds those without a default.
class ObjectSchema {
 public:
  ObjectSchema& required(const std::string& key, Json schema) {
    required_.items.push_back(Json::of_string(key));
    return optional(key, std::move(schema));
  }
  ObjectSchema& optional(const std::string& key, Json schema) {
    properties_.add(key, std::move(schema));
    return *this;
  }
  Json take() {
    Json json = typed("object");
    json.add("additionalProperties", Json::of_boolean(false));
    json.add("properties", std::move(properties_));
    json.add("required", std::move(required_));
    return json;
  }

 private:
  Json properties_ = Json::object();
  Json required_ = Json::array();
};

inline Json ranged(const char* type, const Range& range) {
  Json json = typed(type);
  const auto side = [&](const char* keyword, const std::string& limit) {
    if (!limit.empty()) json.add(keyword, Json::of_number(limit));
  };
  side("exclusiveMinimum", range.above);
  side("minimum", range.at_least);
  side("exclusiveMaximum", range.below);
  side("maximum", range.at_most);
  return json;
}

inline Json matching(const char* pattern) {
  Json json = typed("string");
  json.add("pattern", Json::of_string(pattern));
  return json;
}

}  // namespace tally
