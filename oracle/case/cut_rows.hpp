// Some rows of a case's batch, as a part of it has them.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// Neighbouring rows of a case.
struct Rows {
  std::int64_t first, count;
};

/// Leaves of every tensor of `part` that has rows those of `whole`, one stretch behind another, and their sequences.
void keep_rows(const Case& whole, const std::vector<Rows>& rows, Case& part);

}  // namespace tally
