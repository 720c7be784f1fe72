// The norm over gradients of which every rank has pieces, (rank_norm.1) to (rank_norm.3): what a rank hands to the others,
// and the norm of all.
// Defined in rank_norm.cpp, rank_norm_exact.cpp.
#pragma once

#include <vector>

#include "oracle/tolerance/expected.hpp"

namespace tally::oracle {

/// Whether ranks hand over sums of squares, so that the root comes last.
bool hands_over_squares(const Case& c);

/// A rank's part of its pieces, fp32 [1, 1]; 0 where it has none.
Expected norm_part(const Declared& declared, const Case& c, const ExpectedTensors& pieces);
/// The parts of every stage of a pipeline, or of the one there is, in the order of the ranks; none is empty.
template <class Part>
using PartsByStage = std::vector<std::vector<Part>>;
/// The norm's bits by those of all parts.
float rounded_norm(const Case& c, const PartsByStage<float>& parts);
/// The norm with its bound by those of all parts.
Expected norm_of_parts(const Case& c, const PartsByStage<Expected>& parts);

}  // namespace tally::oracle
