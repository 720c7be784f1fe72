// What a judged recording of operations says, in the words that its text and its page share.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/record/operations.hpp"

namespace tally {

/// "gelu" of "aten.gelu.default", "add_.Tensor", "mylib.twice": without the library that most have, and "default".
std::string short_name(const std::string& operation);
/// A line of the program; a file of an installed package from the package on.
std::string short_where(const std::string& where);
/// "forward at train.py:17 in forward, module h.0, step 3"
std::string stand_text(const OperationPlace& place);
/// "operation 16, aten.gelu.default, forward at train.py:17 in forward, module h.0, step 3"
std::string place_text(const OperationPlace& place);

/// "[3, 5]"; of many numbers the first and the last.
std::string short_list(const std::vector<std::int64_t>& values);
/// Nine digits, as float32 has: "0.1", "inf", "nan".
std::string nine_digits(double value);

/// What is wrong with an operation that fails: "computes less precisely than float32 does".
std::string fault_of(const JudgedCall& judged);
/// "element [3, 5]: found 0.1, expected 0.2 ± 1e-08 (12 times what is allowed); 3 of 40 elements are wrong"
std::string wrong_text(const JudgedResult& result);

/// "FAIL", "PASS", "NOT JUDGED", and the sentence behind it without its full stop.
std::pair<std::string, std::string> verdict_of(const JudgedRecording& judged);
/// "PyTorch 1.13.0, 252 operations: 182 judged in 40,790 elements, …"
std::string extent_of(const JudgedRecording& judged);
/// What the operations were held to, and what that means where the recording's own profile is unknown.
std::string profile_text(const JudgedRecording& judged);
bool profile_is_unknown(const JudgedRecording& judged);
/// Whether the first failure is so small that kernels of an unknown profile may mean it.
bool may_be_by_design(const JudgedRecording& judged);
/// What to do about operations that are not judged for this reason.
std::string next_step(const std::string& why);
/// What a recording leaves open: its end, its share.
std::vector<std::string> open_ends(const JudgedRecording& judged);

using NamedCounts = std::vector<std::pair<std::string, OperationCounts>>;
/// Most failures first, then the nearest to its bound, then most that is not judged.
NamedCounts by_concern(const std::map<std::string, OperationCounts>& counts);
/// Reasons with the most operations first.
std::vector<std::pair<std::string, NotJudgedOperations>> by_number(const JudgedRecording& judged);

}  // namespace tally
