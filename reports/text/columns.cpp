#include "reports/text/columns.hpp"

#include <algorithm>

#include "reports/text/utf8.hpp"

namespace tally {
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

}  // namespace tally
