// How many items the micro-batches of a case hold.
#pragma once

#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// n_k of every micro-batch of a window.
std::vector<double> items_of(const Case& c, std::size_t window);

/// Whether all micro-batches of every window have the same items: then the mean of means would pass too.
bool has_equal_items(const Case& c);

}  // namespace tally
