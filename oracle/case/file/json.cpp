// JSON as a tree: asked, held against its form, written; and text whose numbers are replaced by their ordinal.
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

class Writer {
 public:
  explicit Writer(JsonLayout layout) : layout_(layout) {}

  void write(const Json& json) {
    switch (json.kind) {
      case Json::Kind::null:
        out_ += "null";
        break;
      case Json::Kind::boolean:
      case Json::Kind::number:
        out_ += json.text;
        break;
      case Json::Kind::string:
        out_ += json_string(json.text);
        break;
      case Json::Kind::array:
        write_list(json, '[', ']', in_order(json));
        break;
      case Json::Kind::object:
        write_list(json, '{', '}', by_key(json));
        break;
    }
  }
  std::string take() { return std::move(out_) + "\n"; }

 private:
  static std::vector<std::size_t> in_order(const Json& json) {
    std::vector<std::size_t> order(json.items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
  }
  static std::vector<std::size_t> by_key(const Json& json) {
    std::vector<std::size_t> order = in_order(json);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return json.keys[a] < json.keys[b]; });
    return order;
  }
  void write_list(const Json& json, char open, char close, const std::vector<std::size_t>& order) {
    const bool broken = layout_ == JsonLayout::readable && !on_one_line(json);
    const char* separator = layout_ == JsonLayout::compact || broken ? "," : ", ";
    out_ += open;
    indent_ += 2;
    for (std::size_t n = 0; n < order.size(); ++n) {
      if (n != 0) out_ += separator;
      if (broken) out_ += "\n" + std::string(indent_, ' ');
      if (json.is(Json::Kind::object))
        out_ += json_string(json.keys[order[n]]) + (layout_ == JsonLayout::compact ? ":" : ": ");
      write(json.items[order[n]]);
    }
    indent_ -= 2;
    if (broken) out_ += "\n" + std::string(indent_, ' ');
    out_ += close;
  }

  JsonLayout layout_;
  std::string out_;
  std::size_t indent_ = 0;
};

}  // namespace

std::string to_text(const Json& json, JsonLayout layout) {
  Writer writer(layout);
  writer.write(json);
  return writer.take();
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

namespace {

/// Where the string that opens at `begin` ends: one past its closing quote, or the end of the text.
std::size_t end_of_string(std::string_view json, std::size_t begin) {
  for (std::size_t i = begin + 1; i < json.size(); ++i) {
    if (json[i] == '\\')
      ++i;
    else if (json[i] == '"')
      return i + 1;
  }
  return json.size();
}

bool begins_number(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.'; }

}  // namespace

std::size_t NumberedText::original_position(std::size_t position) const {
  const auto after =
      std::upper_bound(at.begin(), at.end(), position, [](std::size_t p, const auto& end) { return p < end.first; });
  if (after == at.begin()) return position;
  return std::prev(after)->second + (position - std::prev(after)->first);
}

NumberedText number_the_numbers(std::string_view json, std::size_t most_numbers) {
  NumberedText numbered;
  numbered.text.reserve(json.size());
  for (std::size_t i = 0; i < json.size() && numbered.numbers.size() < most_numbers;) {
    const std::size_t begin = i;
    if (json[i] == '"') {
      i = end_of_string(json, i);
      numbered.text.append(json.substr(begin, i - begin));
    } else if (begins_number(json[i])) {
      i = std::min(json.find_first_not_of("+-.0123456789eE", i), json.size());
      numbered.text += std::to_string(numbered.numbers.size());
      numbered.numbers.emplace_back(json.substr(begin, i - begin));
      numbered.at.emplace_back(numbered.text.size(), i);
    } else {
      numbered.text += json[i++];
    }
  }
  return numbered;
}

}  // namespace tally
