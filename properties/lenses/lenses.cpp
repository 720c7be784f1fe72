// The lenses of a whole trace.
#include "oracle/case/ranks.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lenses/walk.hpp"

namespace tally {
namespace {

/// End to end, of one generation, from what the one before left behind; nullptr where the number of ranks never changes.
std::vector<GroupedChecks> checks_of_ranks(const RanksOfTrace& ranks, LeftBehind* between) {
  std::deque<Walk> walks;
  for (std::size_t rank = 0; rank < ranks.count(); ++rank)
    walks.emplace_back(ranks.parts[rank], ranks.traces[rank], Lens::end_to_end);
  walk_ranks(walks, between);
  std::vector<GroupedChecks> found;
  for (std::size_t rank = 0; rank < ranks.count(); ++rank)
    found.push_back({in_order(ranks.traces[rank], std::move(walks[rank].checks)), {}});
  return found;
}

}  // namespace

std::vector<TensorCheck> local_lens(const Case& c, const Trace& trace,
                                    const std::function<void(const std::string&, std::size_t)>& told, bool follows) {
  if (in_ranks(c) && c.whole == nullptr) {
    const GenerationsOfTrace generations(c, trace);
    std::vector<std::vector<GroupedChecks>> found;
    for (const RanksOfTrace& ranks : generations.all) {
      std::vector<GroupedChecks>& of_each = found.emplace_back();
      for (std::size_t rank = 0; rank < ranks.count(); ++rank)
        of_each.push_back({local_lens(ranks.parts[rank], ranks.traces[rank], told, follows), {}});
    }
    return checks_of_whole(generations, trace, found);
  }
  Walk walk(c, trace, Lens::local);
  walk.follows = follows;
  walk.gone_through = told;
  walk_all_and_sample(walk);
  return in_order(trace, std::move(walk.checks));
}

std::vector<TensorCheck> end_to_end_lens(const Case& c, const Trace& trace) {
  if (in_ranks(c) && c.whole == nullptr) {
    const GenerationsOfTrace generations(c, trace);
    std::vector<std::vector<GroupedChecks>> found;
    LeftBehind between;
    for (const RanksOfTrace& ranks : generations.all)
      found.push_back(checks_of_ranks(ranks, generations.all.size() > 1 ? &between : nullptr));
    return checks_of_whole(generations, trace, found);
  }
  Walk walk(c, trace, Lens::end_to_end);
  walk_all(walk);
  return in_order(trace, std::move(walk.checks));
}

std::vector<TensorCheck> end_to_end_after(const Case& c, const Trace& trace, const std::vector<TensorCheck>& local) {
  Walk walk(c, trace, Lens::end_to_end);
  walk.know_local(local);
  walk_all(walk);
  return in_order(trace, std::move(walk.checks));
}

}  // namespace tally
