// JSON text, and records read from it.
#include "reports/record/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tally {
namespace {

using nlohmann::json;

/// A text of the size that is read could hold so many that they fill the memory.
constexpr std::size_t most_values = 8'000'000, deepest = 64;

std::string number_text(double value) {
  if (value == 0) return std::signbit(value) ? "-0.0" : "0";  // a JSON reader takes -0 for the integer 0
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

std::string scalar_text(const json& value) {
  if (value.is_number_float()) return number_text(value.get<double>());
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void print(const json& value, int depth, std::string& out) {
  if (!value.is_structured()) {
    out += scalar_text(value);
    return;
  }
  const bool lines = !value.empty() && (depth == 0 || (depth == 1 && value.is_array()));
  out += value.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [key, element] : value.items()) {
    if (!first) out += lines ? "," : ", ";
    if (lines) out += "\n" + std::string(depth + 1, ' ');
    if (value.is_object()) out += scalar_text(json(key)) + ": ";
    print(element, depth + 1, out);
    first = false;
  }
  if (lines) out += "\n" + std::string(depth, ' ');
  out += value.is_object() ? '}' : ']';
}

/// Builds the value as it is parsed; a key that stands twice in one object is an error.
class Builder : public nlohmann::json_sax<json> {
 public:
  json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::value_t::object); }
  bool start_array(std::size_t) override { return open(json::value_t::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    auto& members = open_.back()->get_ref<json::object_t&>();
    const auto [place, fresh] = members.emplace(std::move(name), nullptr);
    if (!fresh)
      throw std::runtime_error("key " + shown(json(place->first)) + " stands twice in one object; expected it once");
    member_ = &place->second;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    const std::string message = error.what();
    const auto end = message.find("] ");
    throw std::runtime_error("not JSON: " + (end == std::string::npos ? message : message.substr(end + 2)));
  }

 private:
  /// Where the next value belongs.
  template <class Value>
  json* put(Value&& value) {
    if (++values_ > most_values)
      throw std::runtime_error("found more than " + std::to_string(most_values) +
                               " values, expected at most that many");
    if (open_.empty()) return &(root_ = std::forward<Value>(value));
    if (open_.back()->is_object()) return &(*member_ = std::forward<Value>(value));
    auto& list = open_.back()->get_ref<json::array_t&>();
    list.emplace_back(std::forward<Value>(value));
    return &list.back();
  }
  template <class Value>
  bool add(Value&& value) {
    put(std::forward<Value>(value));
    return true;
  }
  bool open(json::value_t kind) {
    if (open_.size() == deepest)
      throw std::runtime_error("found values nested deeper than " + std::to_string(deepest) +
                               ", expected no deeper ones");
    open_.push_back(put(json(kind)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  json root_;
  json* member_ = nullptr;
  std::size_t values_ = 0;
  std::vector<json*> open_;  // a list does not grow while something in it is open
};

}  // namespace

json json_of_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::string canonical_text(const json& value) {
  std::string out;
  print(value, 0, out);
  return out + '\n';
}

json parse_json(std::string_view text) {
  if (const auto zero = text.find('\0'); zero != std::string_view::npos)  // the parser would take it for the end
    throw std::runtime_error("not JSON: found a byte of zero on line " +
                             std::to_string(1 + std::count(text.begin(), text.begin() + zero, '\n')) +
                             ", expected text");
  Builder builder;
  json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string shown(const json& value) {
  if (value.is_object()) return "an object of " + std::to_string(value.size()) + " keys";
  if (value.is_array()) return "a list of " + std::to_string(value.size());
  const std::string text = scalar_text(value);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

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
