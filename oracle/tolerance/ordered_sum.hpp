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
///                 sums of lanes are added pairwise: l and l + 4, then l and l + 2, then 0 and 1
std::optional<Matrix<float>> ordered_bias_gradient(const Declared& declared, const Matrix<float>& dy);

/// Whether the claim of "gemm" fixes the order of a product's additions.
bool orders_products(const Declared& declared);

/// A [m, k] times B [k, n] as the claim of "gemm" says by its `algorithm`, rounded once to its result format. nullopt:
/// it names no order, rounds otherwise than to nearest in fp32, or comes to something that is not finite.
///   in_order_fma   from 0, acc = fma(a, b, acc) in fp32 from the first of the k terms to the last
std::optional<Matrix<float>> ordered_product(const Declared& declared, const Matrix<float>& a, const Matrix<float>& b);

}  // namespace tally::oracle
