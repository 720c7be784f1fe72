#include "reports/record/fields.hpp"
#include "reports/record/json_reader.hpp"

namespace tally {

Results results_of_json(std::string_view text) { return record_of_json<Results>(text, "results.json", 1); }

}  // namespace tally
