#include "reports/record/json_reader.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "reports/record/json_text.hpp"

namespace tally {
namespace {

using nlohmann::json;

template <class Word, std::size_t n>
void read_word(const json& value, const JsonPath& place, const Word (&words)[n], Word& out) {
  std::string expected;
  for (const Word word : words) {
    if (value.is_string() && value.get_ref<const std::string&>() == word_of(word)) {
      out = word;
      return;
    }
    expected += (expected.empty() ? "" : " | ") + std::string(word_of(word));
  }
  refuse(place, value, expected);
}

}  // namespace

std::string JsonPath::text() const {
  if (parent_ == nullptr) return key_;
  return parent_->text() + (key_ != nullptr ? "." + std::string(key_) : "[" + std::to_string(index_) + "]");
}

void refuse(const JsonPath& place, const json& found, const std::string& expected) {
  throw std::runtime_error(place.text() + ": found " + shown(found) + ", expected " + expected);
}

void read_json(const json& value, const JsonPath& place, std::string& out) {
  if (!value.is_string()) refuse(place, value, "text");
  out = value.get_ref<const std::string&>();
}

void read_json(const json& value, const JsonPath& place, bool& out) {
  if (!value.is_boolean()) refuse(place, value, "true or false");
  out = value.get<bool>();
}

void read_json(const json& value, const JsonPath& place, double& out) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (value.is_number()) {
    out = value.get<double>();
  } else if (value == "inf") {
    out = infinity;
  } else if (value == "-inf") {
    out = -infinity;
  } else if (value == "nan") {
    out = std::nan("");
  } else {
    refuse(place, value, "a number, \"inf\", \"-inf\" or \"nan\"");
  }
}

void read_json(const json& value, const JsonPath& place, Status& out) {
  using enum Status;
  read_word(value, place, {pass, fail, vacuous, not_run, error}, out);
}

void read_json(const json& value, const JsonPath& place, FailureClass& out) {
  using enum FailureClass;
  read_word(value, place, {none, logic, precision, order, non_finite, skip_decision}, out);
}

void read_json(const json& value, const JsonPath& place, std::pair<std::string, std::string>& out) {
  JsonReader reader(value, place);
  reader("assumption", out.first);
  reader("holds", out.second);
  reader.nothing_else();
}

JsonReader::JsonReader(const json& object, const JsonPath& place) : object_(object), place_(place) {
  if (!object.is_object()) refuse(place, object, "an object");
}

const json& JsonReader::member(const char* key) {
  const auto found = object_.find(key);
  if (found == object_.end()) refuse(place_, object_, "the key \"" + std::string(key) + "\" in it");
  known_.push_back(key);
  return *found;
}

void JsonReader::nothing_else() const {
  if (known_.size() == object_.size()) return;  // no key stands twice, and each was found
  for (const auto& [key, value] : object_.items())
    if (std::find(known_.begin(), known_.end(), key) == known_.end())
      refuse(JsonPath(place_, shown(json(key)).c_str()), value, "no such key");
}

json parse_schema(std::string_view text, int schema) {
  json value = parse_json(text);
  if (!value.is_object()) refuse(JsonPath("$"), value, "an object");
  const auto found = value.find("schema");
  if (found == value.end()) refuse(JsonPath("$"), value, "the key \"schema\" in it");
  if (*found != schema)
    refuse(JsonPath("$.schema"), *found, std::to_string(schema) + ", the schema that this Tally reads");
  return value;
}

}  // namespace tally
