// Text for people: numbers, columns, safe UTF-8, the nearest of known names.
#include "reports/text/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

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

namespace {

template <class... How>
std::string text_of(double value, How... how) {
  char text[400];
  return {text, std::to_chars(text, text + sizeof text, value, how...).ptr};
}

/// Empty for a finite value.
std::string word_of_non_finite(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return "";
}

}  // namespace

std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string counted(std::uint64_t n, const char* of) { return grouped(n) + " " + of + (n == 1 ? "" : "s"); }

std::string significant(double value) {
  if (!std::isfinite(value)) return word_of_non_finite(value);
  const double size = std::fabs(value), last = 0x1p-20;  // about 1e-6
  if (size == 1) return text_of(value);
  if (std::fabs(size - 1) < last) return (value < 0 ? "-" : "") + std::string(size < 1 ? "0.999999" : "1.000001");
  std::string text = text_of(value, std::chars_format::general, 3);
  for (int digits = 4; text == "1" || text == "-1"; ++digits) text = text_of(value, std::chars_format::general, digits);
  return text;
}

std::string power_of_ten(double log10) {
  constexpr double least = -1000;
  return log10 >= least ? "1e" + coordinate(log10) : "< 1e-1000";
}

std::string shortest(double value) { return std::isfinite(value) ? text_of(value) : word_of_non_finite(value); }

std::string hexadecimal_text(double value) {
  if (!std::isfinite(value)) return word_of_non_finite(value);
  const std::string digits = text_of(std::fabs(value), std::chars_format::hex);
  return (std::signbit(value) ? "-0x" : "0x") + digits;
}

std::string percent(double share) {
  if (!std::isfinite(share)) return word_of_non_finite(share);
  return text_of(share * 100, std::chars_format::fixed, 2) + " %";
}

std::string coordinate(double value) {
  std::string text = text_of(value, std::chars_format::fixed, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

namespace {

std::string cut(const std::string& cell, std::size_t widest) {
  const std::string line = one_line(cell);
  if (code_points_in(line) <= widest) return line;
  std::string_view rest = line;
  std::string out;
  for (std::size_t i = 0; i + 1 < widest; ++i) append_utf8(out, take_code_point(rest));
  return out + "\u2026";
}

}  // namespace

std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t widest) {
  if (rows.empty()) return "";
  std::vector<bool> right(rows[0].size());
  std::vector<std::size_t> width(rows[0].size(), 0);
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : rows) {
    auto& line = cells.emplace_back();
    for (std::size_t i = 0; i < width.size(); ++i) {
      std::string cell = i < row.size() ? row[i] : "";
      if (cells.size() == 1 && cell.starts_with('>')) right[i] = true, cell.erase(0, 1);
      line.push_back(cut(cell, widest));
      width[i] = std::max(width[i], code_points_in(line.back()));
    }
  }
  std::string out;
  for (const auto& line : cells) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string pad(width[i] - code_points_in(line[i]), ' ');
      text += "  " + (right[i] ? pad + line[i] : line[i] + pad);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> nearest_names(std::string_view word, std::vector<std::string> names, std::size_t count) {
  const auto key = [&](const std::string& name) {
    return std::make_tuple(!name.starts_with(word), name.find(word) == std::string::npos, edit_distance(word, name),
                           std::string_view(name));
  };
  std::sort(names.begin(), names.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  names.resize(std::min(names.size(), count));
  return names;
}

std::vector<std::string> near_names(std::string_view word, std::vector<std::string> names, std::size_t count) {
  names = nearest_names(word, std::move(names), count);
  std::erase_if(names, [&](const std::string& name) {
    return name.find(word) == std::string::npos && 2 * edit_distance(word, name) >= std::max(word.size(), name.size());
  });
  return names;
}

}  // namespace tally
