#include "reports/text/markup.hpp"

#include "reports/text/text.hpp"

namespace tally {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : visible(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

Markup::Open::~Open() { out_ += "</" + name_ + ">"; }

void Markup::start(std::string_view name, const Attributes& attributes) {
  out_ += '<';
  out_ += name;
  for (const auto& [key, value] : attributes) {
    if (value.empty()) continue;
    out_ += ' ';
    out_ += key;
    out_ += "=\"" + escaped(value) + '"';
  }
}

Markup::Open Markup::open(std::string_view name, const Attributes& attributes) {
  start(name, attributes);
  out_ += '>';
  return {out_, name};
}

void Markup::element(std::string_view name, const Attributes& attributes, std::string_view content) {
  const Open element = open(name, attributes);
  text(content);
}

void Markup::empty(std::string_view name, const Attributes& attributes) {
  start(name, attributes);
  out_ += "/>";
}

}  // namespace tally
