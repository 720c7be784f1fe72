// By what a sum over ranks is divided, and where: `execution.ranks.reduce.divide`.
#pragma once

#include <cstddef>

#include "oracle/case/case.hpp"

namespace tally {

struct RankDivision {
  float front = 1;      // every rank's numbers are multiplied by it before they travel
  float behind = 1;     // and their sum by it
  double multiple = 1;  // the loss is divided by so much less
  bool around_the_sum = false;
  bool when_unscaling = false;  // the loss is divided by nothing, and the sum when its scale goes
};
RankDivision rank_division(const Case& c, std::size_t ranks);

}  // namespace tally
