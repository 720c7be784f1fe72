// The buckets that gradients travel in between ranks, and by what their sum is divided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

// The buckets that gradients travel in: parameters side by side, as `execution.ranks.buckets` says.

struct Bucket {
  struct Place {
    std::size_t parameter;  // in model order
    std::int64_t first;     // its first element in the bucket
  };
  std::vector<Place> places;
  std::int64_t elements = 0;  // padding at the end included: a multiple of the ranks and of `align`
};

/// Whole parameters in the order the case says, each added to the last bucket until that holds `elements` or more; one
/// bucket for all where that is 0. `sizes`: their elements, in model order.
std::vector<Bucket> buckets_of(const Case& c, std::size_t ranks, const std::vector<std::int64_t>& sizes);

// By what a sum over ranks is divided, and where: `execution.ranks.reduce.divide`.

struct RankDivision {
  float front = 1;      // every rank's numbers are multiplied by it before they travel
  float behind = 1;     // and their sum by it
  double multiple = 1;  // the loss is divided by so much less
  bool around_the_sum = false;
  bool when_unscaling = false;  // the loss is divided by nothing, and the sum when its scale goes
};
RankDivision rank_division(const Case& c, std::size_t ranks);

}  // namespace tally
