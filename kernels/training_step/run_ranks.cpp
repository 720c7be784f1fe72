#include "kernels/training_step/run_ranks.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "kernels/ranks/fibres.hpp"
#include "kernels/trace/stage_place.hpp"
#include "kernels/training_step/run_parts.hpp"
#include "kernels/training_step/run_state.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"

namespace tally {

void run_rank(const Case& c, Link& link, const RunOptions& options, Trace& trace) {
  const Case part = part_of(c, static_cast<std::size_t>(link.rank()));
  RunOptions own = options;
  own.link = &link;
  Run run(part, own, own.stages != nullptr ? *own.stages : shipped_stages());
  try {
    run_windows(run);
    check_inputs(run);
  } catch (...) {
    trace = std::move(run.trace);
    throw;
  }
  trace = std::move(run.trace);
  if (!trace.violations.empty()) throw BrokenLink(trace.violations.front());
}

Trace merged_ranks(std::vector<Trace> traces) {
  Trace all;
  all.claims = traces.front().claims;
  all.groups = traces.front().groups;
  all.case_hash = traces.front().case_hash;
  struct Placed {
    int window, part, rank;
    Tap tap;
  };
  std::vector<Placed> placed;
  for (Trace& trace : traces) {
    for (std::string& violation : trace.violations)
      if (std::ranges::find(all.violations, violation) == all.violations.end())
        all.violations.push_back(std::move(violation));
    for (Tap& tap : std::move(trace).take_taps())
      placed.push_back(
          {tap.name.window, part_of_window(tap.name.stage, tap.name.tensor), tap.name.rank, std::move(tap)});
  }
  std::ranges::stable_sort(placed, {},
                           [](const Placed& each) { return std::tuple(each.window, each.part, each.rank); });
  for (Placed& each : placed) all.add(std::move(each.tap.name), std::move(each.tap.value));
  return all;
}

Trace run_ranks(const Case& c, const RunOptions& options) {
  if (!options.accumulate)
    throw NotSupported("a window without an accumulation buffer is one rank's; the case has ranks");
  const std::size_t ranks = ranks_of(c);
  std::vector<Trace> traces(ranks);
  std::string broken;
  try {
    run_ranks_on_fibres(static_cast<int>(ranks), static_cast<std::uint64_t>(rank_number(c, "arrival")),
                        [&](Link& link) { run_rank(c, link, options, traces[static_cast<std::size_t>(link.rank())]); });
  } catch (const BrokenLink& reason) {
    broken = reason.what();
  }
  Trace trace = merged_ranks(std::move(traces));
  if (!broken.empty() && std::ranges::find(trace.violations, broken) == trace.violations.end())
    trace.violations.push_back(broken);
  add_guard_findings(options.executor, trace);
  return trace;
}

}  // namespace tally
