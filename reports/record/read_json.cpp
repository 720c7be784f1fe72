#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "reports/record/fields.hpp"
#include "reports/record/json_text.hpp"

namespace tally {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& place, const json& found, const std::string& expected) {
  throw std::runtime_error("results.json: " + place + ": found " + shown(found) + ", expected " + expected);
}

template <Recorded T>
void read(const json& value, const std::string& place, T& out);

void read(const json& value, const std::string& place, std::string& out) {
  if (!value.is_string()) refuse(place, value, "text");
  out = value.get<std::string>();
}

void read(const json& value, const std::string& place, bool& out) {
  if (!value.is_boolean()) refuse(place, value, "true or false");
  out = value.get<bool>();
}

template <std::integral T>
void read(const json& value, const std::string& place, T& out) {
  using Limits = std::numeric_limits<T>;
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<T>(value.get<std::uint64_t>())
                        : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
  if (!fits)
    refuse(place, value,
           "a whole number from " + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max()));
  out = value.get<T>();
}

void read(const json& value, const std::string& place, double& out) {
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

template <class Word, std::size_t n>
void read_word(const json& value, const std::string& place, const Word (&words)[n], Word& out) {
  std::string expected;
  for (const Word word : words) {
    if (value == std::string(word_of(word))) {
      out = word;
      return;
    }
    expected += (expected.empty() ? "" : " | ") + std::string(word_of(word));
  }
  refuse(place, value, expected);
}

void read(const json& value, const std::string& place, Status& out) {
  using enum Status;
  read_word(value, place, {pass, fail, vacuous, not_run, error}, out);
}

void read(const json& value, const std::string& place, FailureClass& out) {
  using enum FailureClass;
  read_word(value, place, {none, logic, precision, order, non_finite, skip_decision}, out);
}

template <class T>
void read(const json& value, const std::string& place, std::vector<T>& out) {
  if (!value.is_array()) refuse(place, value, "a list");
  out.resize(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) read(value[i], place + "[" + std::to_string(i) + "]", out[i]);
}

class Reader {
 public:
  Reader(const json& object, const std::string& place) : object_(object), place_(place) {
    if (!object.is_object()) refuse(place, object, "an object");
  }
  template <class T>
  void operator()(const char* key, T& out) {
    const auto found = object_.find(key);
    if (found == object_.end()) refuse(place_, object_, "the key \"" + std::string(key) + "\" in it");
    read(*found, place_ + "." + key, out);
    known_.insert(key);
  }
  void nothing_else() const {
    for (const auto& [key, value] : object_.items())
      if (!known_.contains(key)) refuse(place_ + "." + shown(json(key)), value, "no such key in schema 1");
  }

 private:
  const json& object_;
  const std::string& place_;
  std::set<std::string> known_;
};

template <Recorded T>
void read(const json& value, const std::string& place, T& out) {
  Reader reader(value, place);
  fields(reader, out);
  reader.nothing_else();
}

json parse(std::string_view text) {
  try {
    return parse_json(text);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(std::string("results.json: ") + error.what());
  }
}

}  // namespace

Results results_of_json(std::string_view text) {
  const json value = parse(text);
  if (!value.is_object()) refuse("$", value, "an object");
  const auto schema = value.find("schema");
  if (schema == value.end()) refuse("$", value, "the key \"schema\" in it");
  if (*schema != 1) refuse("$.schema", *schema, "1; this Tally reads schema 1 only");
  Results results;
  read(value, "$", results);
  return results;
}

}  // namespace tally
