// A large capture of an opaque model under both hard lenses, in the memory of one piece.
#pragma once

#include "properties/compare/groups.hpp"

namespace tally {

/// Elements of the parameters that are judged together.
inline constexpr std::size_t elements_a_piece = std::size_t{1} << 20;

/// Whether the capture is cut: an opaque model of more elements than four pieces have, that one rank trained.
bool is_judged_in_pieces(const Case& c);

/// As hard_lenses, with groups inferred or declared as the trace says, and the bounds of the worst split (bound_terms.hpp).
/// Checks stand in the order of the trace; a failing tensor has no profile. What a scope says of the whole model
/// (whole_model.hpp) stands; without one it is summed up first, where the recipe needs it.
GroupedChecks piecewise_lenses(const Case& c, const Trace& trace, const GoneThrough& told = {},
                               std::size_t most = elements_a_piece);

}  // namespace tally
