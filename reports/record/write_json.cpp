#include "reports/record/fields.hpp"
#include "reports/record/json_writer.hpp"

namespace tally {

std::string to_json(const Results& results) { return canonical_text(JsonWriter::json_of(results)); }

}  // namespace tally
