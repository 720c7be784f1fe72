// JSON as a tree: asked, held against its form, written.
#include "oracle/case/file/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "oracle/case/file/findings.hpp"

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

std::string wrong_with_json(std::string_view text) {
  Findings findings;
  parse_json(text, findings);
  return findings.empty() ? "" : InvalidCase(findings.errors()).what();
}

std::string shortened(std::string_view text, std::size_t longest) {
  return text.size() <= longest ? std::string(text) : std::string(text.substr(0, longest)) + "...";
}

std::string named(std::string_view text) {
  std::string name;
  for (const char c : shortened(text)) {
    if (c == '\0') {
      name += "\u2400";
    } else {
      name += c;
    }
  }
  return name;
}

namespace {

bool is_scalar(const Json& json) { return !json.is(Json::Kind::array) && !json.is(Json::Kind::object); }

/// Lists of scalars, and lists of such lists, stay on one line.
bool on_one_line(const Json& json) {
  const auto flat = [](const Json& item) {
    return is_scalar(item) ||
           (item.is(Json::Kind::array) && std::all_of(item.items.begin(), item.items.end(), is_scalar));
  };
  return json.items.empty() || (json.is(Json::Kind::array) && std::all_of(json.items.begin(), json.items.end(), flat));
}

void write(const Json& json, JsonLayout layout, std::size_t indent, std::string& out) {
  if (is_scalar(json)) {
    out += json.is(Json::Kind::null) ? "null" : json.is(Json::Kind::string) ? json_string(json.text) : json.text;
    return;
  }
  const bool object = json.is(Json::Kind::object), compact = layout == JsonLayout::compact,
             broken = !compact && !on_one_line(json);
  std::vector<std::size_t> order(json.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (object) std::ranges::sort(order, {}, [&](std::size_t i) -> const std::string& { return json.keys[i]; });
  out += object ? '{' : '[';
  for (std::size_t n = 0; n < order.size(); ++n) {
    if (n != 0) out += compact || broken ? "," : ", ";
    if (broken) out += "\n" + std::string(indent + 2, ' ');
    if (object) out += json_string(json.keys[order[n]]) + (compact ? ":" : ": ");
    write(json.items[order[n]], layout, indent + 2, out);
  }
  if (broken) out += "\n" + std::string(indent, ' ');
  out += object ? '}' : ']';
}

}  // namespace

std::string to_text(const Json& json, JsonLayout layout) {
  std::string text;
  write(json, layout, 0, text);
  return text + "\n";
}

std::string json_string(std::string_view text) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::all_of(text.begin(), text.end(), plain)) return '"' + std::string(text) + '"';
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool is_utf8(std::string_view text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

}  // namespace tally
