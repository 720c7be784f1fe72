// Rows of one run where another run of the same rows has them: padded, or cut otherwise into micro-batches.
#pragma once

#include <vector>

#include "kernels/trace/trace.hpp"

namespace tally {

/// The taps of the first window that have a row for each row of their micro-batch, from `got`, a trace of `other`, as
/// `c` has them: row i of `c` is row `places[i]` of `other`. Taps of which `got` lacks a part are left out.
Trace rows_as_in(const Case& c, const Trace& expected, const Case& other, const Trace& got,
                 const std::vector<std::int64_t>& places);

}  // namespace tally
