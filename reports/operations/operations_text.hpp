// A judged recording of operations for a terminal, and as a document. Defined in operations_text.cpp,
// operations_json.cpp.
#pragma once

#include <string>

#include "reports/record/operations.hpp"

namespace tally {

/// What was written beside the recording; empty where nothing was.
struct OperationFiles {
  std::string page, script;
};

/// The verdict first, then what is wrong and where, then how much was judged.
std::string operations_text(const JudgedRecording& judged, const std::string& folder, const OperationFiles& files = {});
/// One operation: all of its results with their worst elements.
std::string operation_text(const JudgedOperation& operation, const std::string& script = "");

/// One JSON document each.
std::string operations_json(const JudgedRecording& judged);
std::string operation_json(const JudgedOperation& operation);

}  // namespace tally
