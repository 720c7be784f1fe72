// What a loss reads beside its outputs: targets, item weights, and a factor that a subject never makes.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/real/number.hpp"
#include "oracle/tolerance/expected.hpp"

namespace tally {

// Targets of a loss that picks a class by its number. A trace holds whatever its subject left.

/// Whether every target is one of the classes, or ignored; true for losses whose targets are no numbers of classes.
bool are_targets_of(const Choice& loss, const std::vector<double>& targets, std::size_t classes);
bool are_targets_of(const Choice& loss, const Tensor& targets, std::size_t classes);

// The factor of a loss where a subject never makes it.

/// c folded into other constants of the loss, as fl(2 / (n F)) and fl(1 / K) are: each side of the comparison is within
/// two roundings to fp32 of the exact c.
oracle::Expected folded(oracle::Expected factor);

/// dy of such a loss over `rows` rows: the factor folded in first may have underflowed below the normal range, and is
/// then multiplied by the rest of c, at most |c| rows.
oracle::Expected of_folded(oracle::Expected dy, const oracle::Expected& factor, std::int64_t rows);

// The item weights of some rows, exactly.

/// [1, rows].
oracle::Matrix<long double> item_weights(const Case& c, std::int64_t first_row, std::int64_t rows);

}  // namespace tally
