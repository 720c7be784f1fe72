// What is wrong with a case, gathered while its JSON objects are read key by key.
#include "oracle/case/file/findings.hpp"

#include <algorithm>
#include <utility>

#include "oracle/case/file/json.hpp"

namespace tally {
namespace {

std::string line_of(const std::vector<CaseError>& errors) {
  if (errors.empty()) return "invalid case";
  const CaseError& first = errors.front();
  const std::string more = errors.size() == 1 ? "" : " (and " + std::to_string(errors.size() - 1) + " more)";
  return first.path + ": found " + first.found + ", expected " + first.expected + more;
}

}  // namespace

InvalidCase::InvalidCase(std::vector<CaseError> errors)
    : std::runtime_error(line_of(errors)), errors_(std::move(errors)) {}

void Findings::add(std::string path, std::string found, std::string expected) {
  if (full()) return;
  if (errors_.size() + 1 == most_findings) {
    path = "$", found = std::to_string(most_findings) + " errors and perhaps more", expected = "none";
  }
  errors_.push_back({std::move(path), std::move(found), std::move(expected)});
}

void Findings::add_broken(std::string path, std::string found, std::string expected) {
  if (!full()) broken_.push_back(path);
  add(std::move(path), std::move(found), std::move(expected));
}

bool Findings::sound(std::string_view path) const {
  if (full()) return false;
  const auto within = [](std::string_view inner, std::string_view outer) {
    return inner.starts_with(outer) &&
           (inner.size() == outer.size() || inner[outer.size()] == '.' || inner[outer.size()] == '[');
  };
  for (const std::string& broken : broken_)
    if (within(broken, path) || within(path, broken)) return false;
  return true;
}

std::string quoted_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "\"" : ", \"") + word + "\"";
  return text;
}

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
