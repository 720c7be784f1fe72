// The elements of one tensor counted against their bounds, one by one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/tolerance/expected.hpp"
#include "properties/studies/evidence/strata.hpp"

namespace tally {

/// What `count_elements` counts under `labels`, and the largest excess under excess_labels(labels). A stratum has
///   checks   elements that were looked at; those whose bound is 0 and that are exact are not: their bits are known
///   vacuous  of them those of which the bound says nothing: it is infinite, or no smaller than the value
///   judged   those with a finite bound
///   ratios   r of these, |got - v| / e; 0 where the element is exact
///   alarms   those outside
/// What is not finite is left to the check of its tensor.
struct CountedTensor {
  const oracle::Expected& expected;
  const Tensor& got;
  const std::vector<std::string>& parts;  // a word for each row, its elements' last label; empty: one part, "all"
  std::uint64_t number;                   // of the case
  const std::string& tap;
};
void count_elements(Strata& strata, const Labels& labels, const CountedTensor& tensor);

Labels excess_labels(Labels labels);

}  // namespace tally
