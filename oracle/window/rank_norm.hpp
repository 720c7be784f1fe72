// The norm over gradients of which every rank has pieces, (rank_norm.1) and (rank_norm.2): what a rank hands to the others,
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
/// The norm's bits by those of all parts, in the order of the ranks.
float rounded_norm(const Case& c, const std::vector<float>& parts);
/// The norm with its bound by those of all parts.
Expected norm_of_parts(const Case& c, const std::vector<Expected>& parts);

}  // namespace tally::oracle
