// Stages that the recipe demands and of which a trace has nothing: where something behind them fails, they are why.
#pragma once

#include <vector>

#include "kernels/trace/trace.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// Where a check fails and an earlier stage left no tap of a tensor that it must leave, that stage is the first that
/// fails: its check, not_run so far, fails and moves before the other. Inputs alone may be untapped. For subjects that
/// tap every stage they run.
void name_absent_stage(const Trace& trace, std::vector<TensorCheck>& checks);

/// Whether this check fails because its stage did not run.
bool is_absent(const TensorCheck& check);

}  // namespace tally
