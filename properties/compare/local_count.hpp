// The stage `count` in the local lens.
#pragma once

#include "properties/compare/local_walk.hpp"

namespace tally {

/// n_k of every micro-batch against the labels of the case, and N against the sum of the n_k that were counted.
void check_count(LocalWalk& walk);

}  // namespace tally
