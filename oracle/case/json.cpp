#include "oracle/case/json.hpp"

#include <algorithm>
#include <utility>

#include "oracle/case/json_form.hpp"

namespace tally {
namespace {

constexpr std::size_t longest_shown = 60;

bool is_identifier(std::string_view key) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !key.empty() && std::all_of(key.begin(), key.end(), allowed);
}

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

const Json* Json::member(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

Json& Json::add(std::string key, Json value) {
  keys.push_back(std::move(key));
  items.push_back(std::move(value));
  return items.back();
}

std::string member_path(const std::string& path, std::string_view key) {
  if (is_identifier(key)) return path + "." + std::string(key);
  const std::string literal = json_string(shortened(key, longest_shown));
  return path + "['" + literal.substr(1, literal.size() - 2) + "']";
}

std::string element_path(const std::string& path, std::size_t i) { return path + "[" + std::to_string(i) + "]"; }

std::string shown(const Json& json) {
  switch (json.kind) {
    case Json::Kind::null:
      return "null";
    case Json::Kind::boolean:
      return json.text;
    case Json::Kind::number:
      return shortened(json.text, longest_shown);
    case Json::Kind::string:
      return json_string(shortened(json.text, longest_shown));
    case Json::Kind::array:
      return "an array of " + counted(json.items.size(), "element");
    case Json::Kind::object:
      return "an object of " + counted(json.items.size(), "member");
  }
  return "nothing";
}

}  // namespace tally
