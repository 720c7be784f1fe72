#include "oracle/case/read_object.hpp"

#include <algorithm>
#include <utility>

#include "oracle/case/decimal.hpp"

namespace tally {

ObjectReader::ObjectReader(const Json* json, std::string path, Findings& findings)
    : json_(json), path_(std::move(path)), findings_(findings) {
  if (json_ == nullptr || json_->is(Json::Kind::object)) return;
  findings_.add_broken(path_, shown(*json_), "an object");
  json_ = nullptr;
}

const Json* ObjectReader::optional(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  return json_ == nullptr ? nullptr : json_->member(key);
}

const Json* ObjectReader::required(std::string_view key) {
  const Json* value = optional(key);
  if (value == nullptr && json_ != nullptr)
    findings_.add_broken(path(key), "nothing", "the required key \"" + std::string(key) + "\"");
  return value;
}

void ObjectReader::finish() const {
  if (json_ == nullptr) return;
  for (const std::string& key : json_->keys)
    if (std::find(known_.begin(), known_.end(), key) == known_.end())
      findings_.add(path(key), "an unknown key", "one of " + quoted_list(known_));
}

std::optional<bool> read_boolean(const Json* json, const std::string& path, Findings& findings) {
  if (json == nullptr) return std::nullopt;
  if (json->is(Json::Kind::boolean)) return json->text == "true";
  findings.add_broken(path, shown(*json), "true or false");
  return std::nullopt;
}

std::optional<std::int64_t> read_integer(const Json* json, const std::string& path, Findings& findings) {
  if (json == nullptr) return std::nullopt;
  if (json->is(Json::Kind::number))
    if (const auto value = exact_integer(json->text)) return value;
  if (findings.sound(path)) findings.add_broken(path, shown(*json), "an integer of 64 bits");
  return std::nullopt;
}

std::optional<std::string> read_text(const Json* json, const std::string& path, Findings& findings) {
  if (json == nullptr) return std::nullopt;
  if (json->is(Json::Kind::string)) return json->text;
  findings.add_broken(path, shown(*json), "a string");
  return std::nullopt;
}

std::optional<std::string> read_word(const Json* json, const std::string& path, const std::vector<std::string>& words,
                                     Findings& findings) {
  if (json == nullptr) return std::nullopt;
  if (json->is(Json::Kind::string) && std::find(words.begin(), words.end(), json->text) != words.end())
    return json->text;
  findings.add_broken(path, shown(*json), "one of " + quoted_list(words));
  return std::nullopt;
}

}  // namespace tally
