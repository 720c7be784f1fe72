// What a judged capture leaves open, and why.
#pragma once

#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line {

/// A sentence each, without a full stop: layers that the capture gives, stages with too few taps, stages whose end-to-end
/// checks are all vacuous, and what the local lens alone does not ask.
std::vector<std::string> not_judged(const Case& c, const std::vector<TensorCheck>& checks, bool all_lenses);

}  // namespace tally::command_line
