// What a partition that fails tells: the coarsest that does, the layers that make it, the cause, and what to change.
#pragma once

#include "properties/vary/run_book.hpp"

namespace tally {

/// Tells the last gap of the report. False where dropout made it, which is in `frozen` then: all is to be judged once
/// more.
bool take_failure(VaryReport& report, RunBook& book, std::vector<std::string>& frozen);

}  // namespace tally
