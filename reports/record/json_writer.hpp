// Writes a record as JSON: every struct that has a fields(archive, record) function found by its namespace.
#pragma once

#include <concepts>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reports/record/json_text.hpp"
#include "reports/record/record.hpp"

namespace tally {

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

}  // namespace tally
