// A script that runs one recorded operation again. Defined in repeat_script.cpp.
#pragma once

#include <string>

#include "reports/record/operations.hpp"

namespace tally {

/// "repeat_operation_16.py"
std::string repeat_name(const OperationPlace& place);

/// A few lines of PyTorch that read what the operation was given from `bits`, a path from the script's own folder, call
/// it, and print its worst element beside what was recorded and expected. Empty where nothing of it can be compared, or
/// an argument is not recorded.
std::string repeat_script(const JudgedOperation& operation, const RecordingHeader& header, const std::string& bits);

}  // namespace tally
