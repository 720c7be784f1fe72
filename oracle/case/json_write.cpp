#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "oracle/case/json.hpp"

namespace tally {
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

}  // namespace tally
