#include "reports/record/json_text.hpp"

#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

namespace tally {
namespace {

using nlohmann::json;

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

/// Called by the parser at every step; sees keys before a later one of the same name replaces them.
class KeysOnce {
 public:
  bool operator()(int, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key && !open_.back().insert(value.get<std::string>()).second)
      throw std::runtime_error("key " + shown(value) + " stands twice in one object; expected it once");
    return true;
  }

 private:
  std::vector<std::set<std::string>> open_;
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
  KeysOnce once;
  try {
    return json::parse(text.begin(), text.end(), [&once](int depth, json::parse_event_t event, json& value) {
      return once(depth, event, value);
    });
  } catch (const json::exception& error) {
    const std::string message = error.what();
    const auto end = message.find("] ");
    throw std::runtime_error("not JSON: " + (end == std::string::npos ? message : message.substr(end + 2)));
  }
}

std::string shown(const json& value) {
  if (value.is_object()) return "an object of " + std::to_string(value.size()) + " keys";
  if (value.is_array()) return "a list of " + std::to_string(value.size());
  const std::string text = scalar_text(value);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

}  // namespace tally
