// What laws over rows require: rows of every activation and of its gradient keep their bits, whatever others hold; and
// how others come to hold something else.
#pragma once

#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "properties/laws/outcome.hpp"

namespace tally {

/// In the first window, of the stages forward, loss, backward and fork: every tensor that has a row for every row of
/// its micro-batch, parameters and their gradients aside, holds the same bits in both traces (±0 as one value) where
/// `rows` says so, which has an entry for every row of the case. What no kernel promises is left out. Whether anything
/// was held: a law that held nothing has shown nothing.
[[nodiscard]] bool require_equal_rows(Outcome& outcome, const Case& c, const Trace& expected, const Trace& got,
                                      const std::vector<bool>& rows, const std::string& message);

/// The case with another token in each row that `rows` says so of, of a model over two tokens and more.
Case with_other_tokens(Case c, const std::vector<bool>& rows);

}  // namespace tally
