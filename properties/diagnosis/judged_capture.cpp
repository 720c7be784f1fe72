#include "properties/diagnosis/judged_capture.hpp"

#include <utility>

#include "properties/compare/bound_terms.hpp"
#include "properties/compare/groups.hpp"
#include "properties/compare/lens.hpp"
#include "properties/diagnosis/diagnose.hpp"

namespace tally {

JudgedCapture judged_capture(const Case& c, const Trace& trace, const CaptureOptions& options) {
  std::size_t bytes = 0;
  const auto told = [&](const std::string& tap, std::size_t more) {
    if (options.progress) options.progress(bytes += more, tap);
  };
  const Grouping grouping = trace.groups.empty() ? Grouping::inferred : Grouping::declared;
  auto [checks, groups] =
      options.all_lenses ? hard_lenses(c, trace, grouping, told) : GroupedChecks{local_lens(c, trace, told), {}};
  split_bounds(c, trace, checks);
  std::vector<Suspicion> suspects;
  if (options.all_lenses) suspects = diagnose(c, trace, checks);
  return {std::move(checks), std::move(groups), std::move(suspects)};
}

}  // namespace tally
