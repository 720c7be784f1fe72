// Records as JSON text, one way only, and back: what is missing, misspelt, out of range or of another type is refused.
#pragma once

#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

// JSON as text, one way only: sorted keys, shortest numbers that read back to the same bits, one record a line.

/// A number as JSON can hold it: "inf", "-inf" and "nan" (payload and sign dropped) as strings.
nlohmann::json json_of_number(double value);

/// Keys of the top object and elements of its arrays stand on lines of their own; one final newline. Bytes that are
/// no UTF-8 are written as U+FFFD.
std::string canonical_text(const nlohmann::json& value);

/// Throws std::runtime_error with line, column and what was expected; a key twice in one object is an error.
nlohmann::json parse_json(std::string_view text);

/// A value as a message shows it: short, never a whole list.
std::string shown(const nlohmann::json& value);

// Writes a record as JSON: every struct that has a fields(archive, record) function found by its namespace.

class JsonWriter {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    object_[key] = json_of(value);
  }

  /// A key that older files do not have.
  template <class T>
  void later(const char* key, const T& value) {
    (*this)(key, value);
  }

  /// A key that is written only where there is something to say.
  template <class T>
  void optional(const char* key, const T& value, bool present) {
    if (present) (*this)(key, value);
  }

  template <class T>
  static nlohmann::json json_of(const T& value) {
    if constexpr (std::integral<T> || std::same_as<T, std::string>) {
      return value;
    } else if constexpr (std::same_as<T, double>) {
      return json_of_number(value);
    } else if constexpr (std::is_enum_v<T>) {
      return std::string(word_of(value));
    } else {
      JsonWriter writer;
      fields(writer, value);
      return std::move(writer.object_);
    }
  }
  template <class T>
  static nlohmann::json json_of(const std::vector<T>& list) {
    nlohmann::json out = nlohmann::json::array();
    for (const T& element : list) out.push_back(json_of(element));
    return out;
  }
  static nlohmann::json json_of(const std::pair<std::string, std::string>& entry) {
    return {{"assumption", entry.first}, {"holds", entry.second}};
  }

 private:
  nlohmann::json object_ = nlohmann::json::object();
};

// Reads a record from JSON, and refuses what is missing, misspelt, out of range or of another type, with its place.

/// Where a value stands: made into text only where something is wrong with it.
class JsonPath {
 public:
  explicit JsonPath(const char* root) : key_(root) {}
  JsonPath(const JsonPath& parent, const char* key) : parent_(&parent), key_(key) {}
  JsonPath(const JsonPath& parent, std::size_t index) : parent_(&parent), index_(index) {}
  std::string text() const;

 private:
  const JsonPath* parent_ = nullptr;
  const char* key_ = nullptr;
  std::size_t index_ = 0;
};

/// Throws std::runtime_error: "$.cases[3].seed: found "abc", expected a whole number from 0 to ...".
[[noreturn]] void refuse(const JsonPath& place, const nlohmann::json& found, const std::string& expected);

void read_json(const nlohmann::json& value, const JsonPath& place, std::string& out);
void read_json(const nlohmann::json& value, const JsonPath& place, bool& out);
void read_json(const nlohmann::json& value, const JsonPath& place, double& out);
void read_json(const nlohmann::json& value, const JsonPath& place, Status& out);
void read_json(const nlohmann::json& value, const JsonPath& place, FailureClass& out);
void read_json(const nlohmann::json& value, const JsonPath& place, std::pair<std::string, std::string>& out);
template <std::integral T>
void read_json(const nlohmann::json& value, const JsonPath& place, T& out);
template <class T>
void read_json(const nlohmann::json& value, const JsonPath& place, std::vector<T>& out);
/// Any struct that has a fields(archive, record) function found by its namespace.
template <class Record>
requires std::is_class_v<Record>
void read_json(const nlohmann::json& value, const JsonPath& place, Record& out);

/// Parses a text whose "schema" must be `schema` into a record; messages start with `name`.
template <class Record>
Record record_of_json(std::string_view text, const std::string& name, int schema);

class JsonReader {
 public:
  JsonReader(const nlohmann::json& object, const JsonPath& place);
  template <class T>
  void operator()(const char* key, T& out) {
    read_json(member(key), JsonPath(place_, key), out);
  }
  /// A key that older files do not have: `out` stays as it is.
  template <class T>
  void later(const char* key, T& out) {
    if (object_.contains(key)) (*this)(key, out);
  }
  template <class T>
  void optional(const char* key, T& out, bool) {
    later(key, out);
  }
  void nothing_else() const;

 private:
  const nlohmann::json& member(const char* key);
  const nlohmann::json& object_;
  const JsonPath& place_;
  std::vector<const char*> known_;
};

/// The parsed text, once its schema is known to be the expected one.
nlohmann::json parse_schema(std::string_view text, int schema);

template <std::integral T>
void read_json(const nlohmann::json& value, const JsonPath& place, T& out) {
  using Limits = std::numeric_limits<T>;
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<T>(value.get<std::uint64_t>())
                        : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
  if (!fits)
    refuse(place, value,
           "a whole number from " + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max()));
  out = value.get<T>();
}

template <class T>
void read_json(const nlohmann::json& value, const JsonPath& place, std::vector<T>& out) {
  if (!value.is_array()) refuse(place, value, "a list");
  out.resize(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) read_json(value[i], JsonPath(place, i), out[i]);
}

template <class Record>
requires std::is_class_v<Record>
void read_json(const nlohmann::json& value, const JsonPath& place, Record& out) {
  JsonReader reader(value, place);
  fields(reader, out);
  reader.nothing_else();
}

template <class Record>
Record record_of_json(std::string_view text, const std::string& name, int schema) {
  try {
    Record record;
    read_json(parse_schema(text, schema), JsonPath("$"), record);
    return record;
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(name + ": " + error.what());
  }
}

}  // namespace tally
