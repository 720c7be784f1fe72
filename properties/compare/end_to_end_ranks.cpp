// Ranks end to end: each as one rank alone up to its buffers, then their sum, and each alone again.
#include "oracle/case/ranks.hpp"
#include "oracle/tolerance/with_spread.hpp"
#include "oracle/window/rank_sums.hpp"
#include "properties/compare/end_to_end_walk.hpp"
#include "properties/compare/ranks_of_trace.hpp"

namespace tally {
namespace {

using oracle::Expected;

/// A rank without a micro-batch adds nothing.
Expected buffer_of(const EndToEndWalk& walk, const std::string& p) {
  const auto found = walk.buffers.find(p);
  if (found != walk.buffers.end()) return found->second;
  return oracle::as_read(Tensor(walk.c.precision.accumulate, walk.c.tensors.at(p).shape));
}

/// The sums of all parameters, by what each rank handed over.
oracle::ExpectedTensors sums_of(const EndToEndWalk& any, const std::vector<oracle::ExpectedTensors>& handed) {
  oracle::ExpectedTensors sums;
  for (const std::string& p : any.parameters) {
    std::vector<const Expected*> addends;
    for (const oracle::ExpectedTensors& each : handed) addends.push_back(&each.at(p));
    sums[p] = oracle::summed_over_ranks(any.declared, oracle::place_in_bucket(whole_of(any.c), p), addends);
  }
  return sums;
}

void hold_sums(EndToEndWalk& walk, const oracle::ExpectedTensors& sums) {
  for (const std::string& p : walk.parameters)
    walk.buffers[p] = walk.held("reduce", "reduced." + p, [&] { return sums.at(p); });
}

oracle::ExpectedTensors buffers_of(const EndToEndWalk& walk) {
  oracle::ExpectedTensors all;
  for (const std::string& p : walk.parameters) all[p] = walk.seen("reduce", "in.buffer." + p, buffer_of(walk, p));
  return all;
}

/// What others tapped; false where one of them did not.
bool take_tapped(const EndToEndWalk& walk, std::size_t from, oracle::ExpectedTensors& into) {
  for (const std::string& p : walk.parameters) {
    const Tensor* tapped =
        handed_over(walk.trace, ranks_of(whole_of(walk.c)), from, walk.window, "reduce", "in.buffer." + p);
    if (tapped == nullptr) return false;
    into[p] = oracle::as_read(*tapped);
  }
  return true;
}

/// Where both hold the same bits behind the sum and began the window alike: the checks of the first, from `begin` on, and
/// all that the next window starts from.
bool goes_on_like(EndToEndWalk& walk, const EndToEndWalk& first, std::size_t begin) {
  if (walk.kept != nullptr || first.ended) return false;
  for (int window = 0; window <= walk.window; ++window)
    if (!same_behind_sum(first.trace, walk.trace, window)) return false;
  walk.checks.insert(walk.checks.end(), first.checks.begin() + static_cast<std::ptrdiff_t>(begin), first.checks.end());
  walk.state = first.state;
  walk.count_before = first.count_before;
  walk.skipped = first.skipped;
  return true;
}

}  // namespace

void expect_reduce(EndToEndWalk& walk) {
  std::vector<oracle::ExpectedTensors> handed(ranks_of(whole_of(walk.c)));
  for (std::size_t from = 0; from < handed.size() && !walk.ended; ++from) {
    if (from == walk.c.rank)
      handed[from] = buffers_of(walk);
    else
      walk.ended = !take_tapped(walk, from, handed[from]);
  }
  if (!walk.ended) hold_sums(walk, sums_of(walk, handed));
}

void expect_ranks(std::deque<EndToEndWalk>& ranks) {
  const oracle::SpreadScope bounds_alone(oracle::Spread::none);
  const auto windows = static_cast<int>(ranks.front().c.windows.size());
  for (int window = 0; window < windows; ++window) {
    std::vector<oracle::ExpectedTensors> handed;
    DecisionCount count;
    for (EndToEndWalk& walk : ranks) {
      if (walk.ended) return;
      walk.window = window;
      expect_buffers(walk);
      handed.push_back(buffers_of(walk));
      count.add(walk.count);
    }
    const oracle::ExpectedTensors sums = sums_of(ranks.front(), handed);
    EndToEndWalk& first = ranks.front();
    const std::size_t begin = first.checks.size();
    for (EndToEndWalk& walk : ranks) {
      walk.count = count;
      if (&walk != &first && goes_on_like(walk, first, begin)) continue;
      hold_sums(walk, sums);
      expect_behind_buffers(walk);
    }
  }
}

}  // namespace tally
