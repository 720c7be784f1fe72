// Pairs of rows of one sequence, which masks of attention have a number for: pair (i, j) of a sequence of `length` rows
// is number i length + j of its pairs, behind those of all sequences before it.
#pragma once

#include <cstdint>
#include <string>

#include "oracle/case/case.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {

/// What a tensor's shape in a contract says for the rows of x, and for the pairs of all sequences.
inline constexpr std::int64_t rows_in_place = -1, pairs_in_place = -2;

/// Pairs of all sequences: the sum of the squares of their lengths.
std::int64_t pairs_of(const Case& c);

/// Pairs of the sequences that end in the rows [first, first + count) of the case.
std::int64_t pairs_of(const Case& c, std::int64_t first, std::int64_t count);

/// A tensor's shape with the rows and the pairs of the case in the places that stand for them.
std::vector<std::int64_t> shape_in(const Case& c, const LayerTensor& tensor, const Layer& layer, std::int64_t features);

/// Whether a tensor of this name is a mask of attention: [heads, pairs].
bool has_pairs(const Case& c, const std::string& tensor);

/// What the rows [first, first + count) of a case read of the mask of one of its layers, which is `mask`: these rows of
/// it, or of a mask of attention the pairs of these rows, [heads, pairs]. The rows must be whole sequences there.
Tensor mask_of_rows(const Case& c, const std::string& layer, std::int64_t first, std::int64_t count);

/// A mask of attention as kernels read it: the masks of all micro-batches, one after another, [pairs, heads] in all.
Tensor masks_by_micro_batch(const Case& c, const std::string& layer);

}  // namespace tally
