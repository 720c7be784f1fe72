#include "reports/study/cells.hpp"

#include <algorithm>
#include <cmath>

#include "reports/text/numbers.hpp"

namespace tally {
namespace {

bool is_whole(double value) { return std::trunc(value) == value && std::fabs(value) <= 0x1p53; }

std::string whole(double value) {
  const std::string digits = grouped(static_cast<std::uint64_t>(std::fabs(value)));
  return value < 0 ? "\u2212" + digits : digits;
}

}  // namespace

bool holds_numbers(const StudyColumn& column) { return !column.numbers.empty(); }

std::size_t rows_of(const StudyTable& table) {
  std::size_t rows = 0;
  for (const StudyColumn& column : table.columns) rows = std::max({rows, column.words.size(), column.numbers.size()});
  return rows;
}

std::vector<std::string> cells_of(const StudyColumn& column) {
  if (!holds_numbers(column)) return column.words;
  const bool all_whole = std::all_of(column.numbers.begin(), column.numbers.end(), is_whole);
  std::vector<std::string> cells;
  for (const double value : column.numbers) {
    cells.push_back(all_whole ? whole(value) : std::isnan(value) ? "\u2013" : significant(value));
  }
  return cells;
}

std::vector<std::string> titles_of(const StudyTable& table) {
  std::vector<std::string> titles;
  for (const StudyColumn& column : table.columns) titles.push_back((holds_numbers(column) ? ">" : "") + column.name);
  return titles;
}

}  // namespace tally
