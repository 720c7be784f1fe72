#include "properties/diagnosis/judged_capture.hpp"

#include <utility>

#include "properties/compare/bound_terms.hpp"
#include "properties/compare/groups.hpp"
#include "properties/diagnosis/diagnose.hpp"

namespace tally {

JudgedCapture judged_capture(const Case& c, const Trace& trace) {
  auto [checks, groups] = hard_lenses(c, trace, trace.groups.empty() ? Grouping::inferred : Grouping::declared);
  split_bounds(c, trace, checks);
  auto suspects = diagnose(c, trace, checks);
  return {std::move(checks), std::move(groups), std::move(suspects)};
}

}  // namespace tally
