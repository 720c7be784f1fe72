// A judged recording of operations for a terminal, and as a document.
#pragma once

#include <string>

#include "reports/record/operations.hpp"

namespace tally {

/// The verdict first, then what is wrong and where, then how much was judged.
std::string operations_text(const JudgedRecording& judged, const std::string& folder);

/// One JSON document.
std::string operations_json(const JudgedRecording& judged);

/// "element [3, 5]: found 0.1, expected 0.2 ± 1e-08 (r = 12); 3 of 40 elements"
std::string wrong_text(const JudgedResult& result);
/// "aten.addmm.default, forward at train.py:17, module h.0"
std::string place_text(const OperationPlace& place);

}  // namespace tally
