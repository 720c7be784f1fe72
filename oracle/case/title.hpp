// A case in one line, for people.
#pragma once

#include <string>

#include "oracle/case/case.hpp"

namespace tally {

/// "fp16, linear 8-16-3, batch_norm, K = 3, 2 windows, sgd".
std::string title_of(const Case& c);
/// The storage format, and what differs from it as it usually is: "fp16, buffer bf16, master fp16".
std::string formats_of(const Precision& precision);

}  // namespace tally
