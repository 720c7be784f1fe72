// The words that records have for kinds of triggers and of gaps, as results and reports spell them: code that asks for
// one uses its name here, so that a misspelt one does not compile.
#pragma once

#include <string_view>

namespace tally {

/// TriggerRecord::kind (reports/record/triggers.hpp).
namespace trigger_kind {
inline constexpr std::string_view setting = "setting", option = "option", size = "size", path = "path", later = "later";
}

/// VaryGap::kind and VaryTensorGap::kind (reports/record/vary.hpp).
namespace gap_kind {
inline constexpr std::string_view rounding = "rounding", decision = "decision", meaning = "meaning",
                                  not_finite = "not finite", not_judged = "not judged", error = "error";
}

}  // namespace tally
