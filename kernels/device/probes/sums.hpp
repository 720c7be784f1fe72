// How sums of products are rounded, found without knowing their order.
#pragma once

#include <functional>

#include "kernels/device/probes/probes.hpp"
#include "kernels/device/probes/products.hpp"

namespace tally {

/// Answers as ProbeProducts::ask does, of one kind of product in one shape.
using Ask = std::function<std::vector<float>(float a, const std::vector<Column>& columns)>;

/// How sums of products are rounded that are as long as k, which is 4 at least. `rounding` is empty where the result is
/// narrower than the accumulator and so cannot show it; the row is left to row_of. Throws what `ask` throws.
///
/// *Terms.* A column holds 2^10 at one place, -2^10 at a second and 2^-19 at a third, all else 0. The small product is
/// lost where it meets the large ones before they have cancelled: in their aligned sum, or in an earlier one of the
/// same accumulator. Over all pairs of places that differ in one bit, the fewest lost places are those of a pair that
/// shares the first aligned sum of an accumulator; with the pair they are its terms, whatever order the library takes k
/// in. Pairs lie in the first and the last 32 of k, the third place up to 32 beside them.
///
/// *Fraction bits.* At the lost places of that pair 2^(10 - f) survives exactly while f bits are kept.
///
/// *Rounding.* 2^10 beside 3/4 and beside 1/4 of its distance to the next number: to nearest goes up and stays,
/// truncation stays twice. Pairs within the aligned sum say how that is rounded, others how sums meet.
SumTraits probe_sums(const Ask& ask, const ProductKind& kind, std::size_t k);

/// "scalar" where products are added one after another to nearest; the tightest of generation_rows() that aligned sums
/// fit whose rounding is that of tensor cores (truncation, to nearest in fp16); else "unknown".
std::string row_of(const SumTraits& found, const ProductKind& kind);

/// probe_sums and row_of with results in fp32 and, of narrower operands, in their own format; the rounding is read off
/// those that show it. `ask` as Ask, of a kind.
using AskKind = std::function<std::vector<float>(const ProductKind&, float a, const std::vector<Column>& columns)>;
SumTraits probe_both_results(const AskKind& ask, ProductKind kind, std::size_t k);

/// The looser of two answers in every field; what they disagree on is unknown.
SumTraits loosest(const SumTraits& one, const SumTraits& other);

}  // namespace tally
