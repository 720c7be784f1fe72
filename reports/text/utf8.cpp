#include "reports/text/utf8.hpp"

namespace tally {
namespace {

constexpr char32_t replacement = 0xFFFD;

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

bool reorders_a_line(char32_t c) {
  return c == 0x200E || c == 0x200F || c == 0x061C || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

void append_visible(std::string& out, char32_t c) {
  constexpr char digits[] = "0123456789ABCDEF";
  if (c < 0x20 && c != '\t' && c != '\n') {
    append_utf8(out, 0x2400 + c);
  } else if (c == 0x7F) {
    append_utf8(out, 0x2421);
  } else if ((c >= 0x80 && c < 0xA0) || (c & 0xFFFE) == 0xFFFE) {
    append_utf8(out, replacement);
  } else if (reorders_a_line(c)) {
    out += "\u27E8U+";
    for (int shift = 12; shift >= 0; shift -= 4) out += digits[(c >> shift) & 15];
    out += "\u27E9";
  } else {
    append_utf8(out, c);
  }
}

}  // namespace

char32_t take_code_point(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  char32_t code = length <= 1 ? lead : lead & (0x7Fu >> length);
  bool valid = length > 0 && length <= text.size();
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = continues(text[i]);
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  valid = valid && code >= smallest[length] && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
  text.remove_prefix(valid ? length : 1);
  return valid ? code : replacement;
}

void append_utf8(std::string& out, char32_t code) {
  const auto byte = [&out](char32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      byte(0xE0 | code >> 12);
    } else {
      byte(0xF0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3F));
    }
    byte(0x80 | (code >> 6 & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

std::size_t code_points_in(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) take_code_point(text);
  return count;
}

std::string visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) append_visible(out, take_code_point(text));
  return out;
}

std::string one_line(std::string_view text) {
  std::string out = visible(text);
  for (char& c : out)
    if (c == '\n' || c == '\t') c = ' ';
  return out;
}

}  // namespace tally
