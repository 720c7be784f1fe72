// The documents: results, studies, captures, as JSON and back.
#include <algorithm>
#include <stdexcept>

#include "reports/record/capture_json.hpp"
#include "reports/record/fields.hpp"
#include "reports/record/json.hpp"
#include "reports/text/text.hpp"

namespace tally {

Results results_of_json(std::string_view text) { return record_of_json<Results>(text, "results.json", 1); }

std::string to_json(const Results& results) { return canonical_text(JsonWriter::json_of(results)); }

// A study as JSON, and back. Reading also checks what the types cannot say: columns of one length, points that are
// pairs.
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

std::string first_remedy_of(const CaptureRecord& capture) {
  return capture.remedies.empty() ? "" : capture.remedies.front();
}

std::string own_gap_of(const CaptureRecord& capture) {
  if (!capture.own_gap) return "not known, as too little of its gradients was recorded";
  const std::string window = std::to_string(capture.own_gap_window), micro_batches = "w" + window + "/m";
  const bool wrong = std::ranges::any_of(capture.checks, [&](const TensorCheck& check) {
    return (check.status == Status::fail || check.status == Status::error) && check.tap.starts_with(micro_batches);
  });
  return "its gradient of window " + window + " differs from the stated recipe's by " +
         significant(100 * *capture.own_gap) + " % of the norm" +
         (wrong ? "" : ", inside its bounds: the error comes after it");
}

std::string to_json(const CaptureRecord& capture) {
  nlohmann::json json{{"tally_check", 1},
                      {"verdict", capture.verdict},
                      {"case",
                       {{"hash", capture.case_hash},
                        {"name", capture.case_name},
                        {"title", capture.case_title},
                        {"windows", capture.windows}}},
                      {"lenses", capture.lenses},
                      {"stages", capture.stages},
                      {"groups", capture.groups},
                      {"checks", JsonWriter::json_of(capture.checks)},
                      {"suspects", JsonWriter::json_of(capture.suspects)},
                      {"cause", capture.cause},
                      {"remedies", capture.remedies},
                      {"place", capture.place},
                      {"place_text", capture.place_text},
                      {"sentence", capture.sentence},
                      {"first_tap", capture.first_tap},
                      {"first_stage", capture.first_stage},
                      {"not_judged", capture.not_judged},
                      {"assumptions", capture.assumptions},
                      {"claims", capture.claims},
                      {"gap_sentence", capture.gap_sentence}};
  if (!capture.ranks.empty()) json["ranks"] = JsonWriter::json_of(capture.ranks);
  if (capture.semantic_gap) json["semantic_gap"] = json_of_number(*capture.semantic_gap);
  if (capture.own_gap) json["own_gap"] = json_of_number(*capture.own_gap);
  if (capture.rounding_drift) json["rounding_drift"] = json_of_number(*capture.rounding_drift);
  if (capture.drift_bound) json["drift_bound"] = json_of_number(*capture.drift_bound);
  return canonical_text(json);
}

}  // namespace tally
