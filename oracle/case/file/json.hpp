// JSON as a tree that keeps what the text says, and its numbers as decimal text, compared and converted exactly.
// Defined in json.cpp, json_parse.cpp.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tally {

// JSON as a tree that keeps what the format says: numbers as their text, members in order, duplicates noticed.

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

// Whether a text is JSON that may be read whole.

/// What is wrong with the form of a JSON text, in one line: no JSON, a key that stands twice, nested too deep, too many
/// values. Empty for a sound one.
std::string wrong_with_json(std::string_view text);
/// The text, or where it is long its beginning and "...".
std::string shortened(std::string_view text, std::size_t longest = 200);
/// A foreign name for a message: shortened, with a picture for each NUL, at which the text of an exception would end.
std::string named(std::string_view text);

// Decimal numbers as text, compared and converted exactly. Nothing here rounds but nearest_double.

/// A decimal taken apart: (-1)^negative * 0.d1 d2 d3 ... * 10^exponent with d1 and the last digit not 0; zero has no
/// digits. Two decimals are equal when their parts are, zeros of either sign being one value.
struct DecimalParts {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;
};

/// The parts of a number in JSON's grammar; nullopt for other text, or where the value lies outside 10^-300 ... 10^300
/// or its written exponent outside +-300.
std::optional<DecimalParts> decimal_parts(std::string_view text);

std::strong_ordering compare(const DecimalParts& a, const DecimalParts& b);
/// Both texts must be valid; throws std::logic_error otherwise.
std::strong_ordering compare_decimals(std::string_view a, std::string_view b);

/// The binary64 nearest to a valid decimal text; throws std::logic_error otherwise.
double nearest_double(std::string_view text);
/// Whether the decimal is exactly this finite binary64.
bool equals(const DecimalParts& decimal, double value);
/// The integer that the decimal is (also written 1e3 or 4.0); nullopt when it is none or exceeds 64 bits.
std::optional<std::int64_t> exact_integer(std::string_view text);

}  // namespace tally
