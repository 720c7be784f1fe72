// Worlds that change: windows in a row that as many ranks train, and the case that each such run of windows is.
#pragma once

#include <cstddef>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// The windows [first, last), as many as follow each other with the same number of ranks.
struct Generation {
  std::size_t first = 0, last = 0, ranks = 1;
};

/// In order; one of all windows where the number of ranks never changes.
std::vector<Generation> generations_of(const Case& c);
/// Which of them a window belongs to.
std::size_t generation_with(const Case& c, std::size_t window);
/// Whether it changes.
bool is_elastic(const Case& c);

/// One generation as a case of its own: its windows with their rows, and in the places of all others empty ones of as
/// many ranks, so that every window keeps its number. Its tensors are those that the whole training begins with. Where
/// the number of ranks never changes, the case itself. No file holds such a case.
Case generation_of(const Case& whole, std::size_t which);

/// Whether a window belongs to the generation that this case is, or that it is a rank's part of. True of every window
/// of any other case.
bool trains_window(const Case& c, std::size_t window);
/// Whether the ranks begin this window with what those before them wrote down, and whether they write it down behind
/// it.
bool begins_from_checkpoint(const Case& c, std::size_t window);
bool leaves_checkpoint(const Case& c, std::size_t window);

}  // namespace tally
