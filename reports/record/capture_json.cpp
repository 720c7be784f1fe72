#include "reports/record/capture_json.hpp"

#include "reports/record/fields.hpp"
#include "reports/record/json_writer.hpp"

namespace tally {

std::string to_json(const CaptureRecord& capture) {
  const nlohmann::json json{{"tally_check", 1},
                            {"verdict", capture.verdict},
                            {"case", {{"hash", capture.case_hash}, {"name", capture.case_name}}},
                            {"lenses", capture.lenses},
                            {"groups", capture.groups},
                            {"checks", JsonWriter::json_of(capture.checks)},
                            {"suspects", JsonWriter::json_of(capture.suspects)},
                            {"notes", capture.notes}};
  return canonical_text(json);
}

}  // namespace tally
