// A study as JSON, and back. Reading also checks what the types cannot say: columns of one length, points that are
// pairs.
#include <algorithm>
#include <stdexcept>

#include "reports/record/json_reader.hpp"
#include "reports/record/json_writer.hpp"
#include "reports/record/study_fields.hpp"

namespace tally {
namespace {

[[noreturn]] void refuse_sizes(const std::string& place, const std::string& found, const std::string& expected) {
  throw std::runtime_error("study: " + place + ": found " + found + ", expected " + expected);
}

std::string at(const std::string& list, std::size_t i) { return list + "[" + std::to_string(i) + "]"; }

std::string rows_text(std::size_t rows) { return std::to_string(rows) + (rows == 1 ? " row" : " rows"); }

std::size_t rows_of(const StudyColumn& column) { return std::max(column.words.size(), column.numbers.size()); }

void check_table(const StudyTable& table, const std::string& place) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const StudyColumn& column = table.columns[i];
    const std::size_t rows = rows_of(table.columns.front());
    const std::string here = at(place + ".columns", i);
    if (!column.words.empty() && !column.numbers.empty()) refuse_sizes(here, "words and numbers", "one of them empty");
    if (rows_of(column) != rows) refuse_sizes(here, rows_text(rows_of(column)), rows_text(rows) + " as in columns[0]");
  }
}

void check_series(const StudySeries& series, const std::string& place) {
  const std::string points = std::to_string(series.x.size()) + " numbers, as many as x";
  if (series.y.size() != series.x.size()) refuse_sizes(place + ".y", std::to_string(series.y.size()), points);
  if (series.low.size() != series.high.size())
    refuse_sizes(place + ".low", std::to_string(series.low.size()), std::to_string(series.high.size()) + " as in high");
  if (!series.low.empty() && series.low.size() != series.x.size())
    refuse_sizes(place + ".low", std::to_string(series.low.size()), "none or " + points);
}

}  // namespace

std::string to_json(const Study& study) { return canonical_text(JsonWriter::json_of(study)); }

Study study_of_json(std::string_view json) {
  Study study = record_of_json<Study>(json, "study", 1);
  for (std::size_t i = 0; i < study.tables.size(); ++i) check_table(study.tables[i], at("$.tables", i));
  for (std::size_t i = 0; i < study.plots.size(); ++i) {
    const auto& all = study.plots[i].series;
    for (std::size_t k = 0; k < all.size(); ++k) check_series(all[k], at(at("$.plots", i) + ".series", k));
  }
  return study;
}

}  // namespace tally
