// The verdict on anything that was run, and the kind of wrong where it failed.
#pragma once

#include <string_view>

namespace tally {

enum class Status { pass, fail, vacuous, not_run, error };
std::string_view word_of(Status status);

/// The verdict classes of a failure: which kind of wrong.
enum class FailureClass { none, logic, precision, order, non_finite, skip_decision };
std::string_view word_of(FailureClass c);

}  // namespace tally
