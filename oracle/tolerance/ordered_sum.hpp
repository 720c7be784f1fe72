// Sums whose order a claim fixes: their bits are known. Where two orders differ by a bit, both stay inside the bound of
// any order; the bits alone tell that another order ran than was declared.
#pragma once

#include <optional>

#include "oracle/tolerance/expected.hpp"

namespace tally::oracle {

/// The column sums of dy [rows, features], [1, features]: additions in fp32 in the order that the claim's `algorithm`
/// names, rounded once to the storage format. nullopt: it names none, and every order is legal.
///   in_order      row after row
///   column_lanes  below 64 rows in order; from 64 rows on, lane l of 8 adds rows l, l + 8, ... in order, and the
///   lanes'
///                 sums are added pairwise: l and l + 4, then l and l + 2, then 0 and 1
std::optional<Matrix<float>> ordered_bias_gradient(const Declared& subject, const Matrix<float>& dy);

}  // namespace tally::oracle
