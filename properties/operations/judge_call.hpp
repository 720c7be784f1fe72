// One recorded operation held to its rule: every element of every result. Defined in judge_call.cpp.
#pragma once

#include "reports/record/operations.hpp"

namespace tally::oracle::operations {
struct Call;
struct Profile;
}  // namespace tally::oracle::operations

namespace tally {

/// Never throws for what the call holds: what cannot be judged says why.
JudgedCall judge(const oracle::operations::Call& call, const oracle::operations::Profile& profile);

}  // namespace tally
