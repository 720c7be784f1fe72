// JSON as a tree that keeps what the format says: numbers as their text, members in order, duplicates noticed.
// Defined in json.cpp, json_parse.cpp, json_write.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

struct Json {
  enum class Kind { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  std::string text = {};               // number: as written; string: its contents; boolean: "true" or "false"
  std::vector<std::string> keys = {};  // object: keys[i] names items[i]
  std::vector<Json> items = {};        // array or object

  bool is(Kind wanted) const { return kind == wanted; }
  /// The first member of that name; nullptr when there is none or this is no object.
  const Json* member(std::string_view key) const;
  /// Appends a member to an object.
  Json& add(std::string key, Json value);

  static Json of_boolean(bool value) { return {Kind::boolean, value ? "true" : "false"}; }
  static Json of_number(std::string text) { return {Kind::number, std::move(text)}; }
  static Json of_string(std::string text) { return {Kind::string, std::move(text)}; }
  static Json array() { return {Kind::array}; }
  static Json object() { return {Kind::object}; }
};

class Findings;

/// Parses JSON text, nested at most 32 deep. Malformed text, duplicate keys and malformed numbers are findings; numbers
/// are not converted, so 1e399 and -0 keep their text. nullopt when the text ends before the tree does.
std::optional<Json> parse_json(std::string_view text, Findings& findings);

enum class JsonLayout { readable, compact };
/// Writes a tree with sorted keys and a final newline.
std::string to_text(const Json& json, JsonLayout layout);
/// A JSON string literal; bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);
bool is_utf8(std::string_view text);

/// `path.key`, or `path['key']` where the key is no identifier.
std::string member_path(const std::string& path, std::string_view key);
std::string element_path(const std::string& path, std::size_t i);
/// A value as a message shows it, shortened.
std::string shown(const Json& json);

}  // namespace tally
