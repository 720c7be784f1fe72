#include "reports/record/capture_json.hpp"

#include <algorithm>

#include "reports/record/fields.hpp"
#include "reports/record/json_writer.hpp"
#include "reports/text/numbers.hpp"

namespace tally {

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
         (wrong ? "" : ", inside its bounds: what is wrong comes behind it");
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
