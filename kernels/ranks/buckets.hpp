// The buckets that gradients travel in: parameters side by side, as `execution.ranks.buckets` says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

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

}  // namespace tally
