// Ranks end to end: each as one rank alone up to its buffers, then their sum, and each alone again.
#include <map>
#include <utility>

#include "oracle/case/generations.hpp"
#include "oracle/case/micro_steps.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "oracle/tolerance/with_spread.hpp"
#include "oracle/window/rank_division.hpp"
#include "oracle/window/rank_sums.hpp"
#include "properties/compare/broadcast.hpp"
#include "properties/compare/checkpoint.hpp"
#include "properties/compare/end_to_end_step.hpp"
#include "properties/compare/end_to_end_walk.hpp"
#include "properties/compare/ranks_of_trace.hpp"

namespace tally {
namespace {

using oracle::Expected;

Expected zeros_for(const EndToEndWalk& walk, const std::string& p, Dtype format) {
  return oracle::as_read(Tensor(format, walk.c.tensors.at(p).shape));
}

/// A rank without a micro-batch adds nothing.
Expected buffer_of(const EndToEndWalk& walk, const std::string& p) {
  const auto found = walk.buffers.find(p);
  return found != walk.buffers.end() ? found->second : zeros_for(walk, p, walk.c.precision.accumulate);
}

/// A micro-batch's gradient, of a rank that has none zeros.
Expected gradient_of(const EndToEndWalk& walk, const std::string& p) {
  const auto k = static_cast<std::size_t>(walk.micro_batch);
  return k < walk.of_each.size() ? walk.of_each[k].separate.at(p) : zeros_for(walk, p, walk.c.precision.storage);
}

/// Whether gradients are added up at this place, not buffers.
bool adds_gradients(const EndToEndWalk& walk) {
  return communicate_of(walk.c) == Communicate::micro_batch && walk.micro_batch >= 0;
}

/// The sums of all parameters, by what each who adds handed over.
oracle::ExpectedTensors sums_over_ranks(const EndToEndWalk& any, const std::vector<oracle::ExpectedTensors>& handed) {
  const oracle::RankDivision division = oracle::rank_division(any.c, handed.size());
  const oracle::Declared wire = oracle::of_the_wire(any.declared, any.c);
  const bool as_they_are = !division.front && !adds_gradients(any) && wire_of(any.c) == any.c.precision.accumulate;
  oracle::ExpectedTensors sums;
  for (const std::string& p : any.parameters) {
    std::deque<Expected> wires;
    std::vector<const Expected*> addends;
    for (const oracle::ExpectedTensors& each : handed)
      addends.push_back(as_they_are ? &each.at(p)
                                    : &wires.emplace_back(oracle::on_the_wire(wire, division.front, each.at(p))));
    Expected sum = oracle::summed_over_ranks(wire, place_in_sum(whole_of(any.c), p, any.micro_batch), addends,
                                             oracle::rank_rounding(any.c));
    if (division.behind) sum = oracle::on_the_wire(wire, division.behind, sum);
    sums[p] = oracle::in_the_buffer(any.declared, any.c, std::move(sum));
  }
  return sums;
}

/// The sums become the buffers, or are added to them.
void hold_sums(EndToEndWalk& walk, const oracle::ExpectedTensors& sums) {
  oracle::ExpectedTensors held;
  for (const std::string& p : walk.parameters)
    held[p] = walk.held("reduce", "reduced." + p, [&] { return sums.at(p); });
  walk.in_order.clear();  // what stands in the buffers is no longer what this rank's gradients add up to
  if (adds_gradients(walk))
    add_gradients(walk, std::move(held));
  else
    walk.buffers = std::move(held);
}

/// What a rank hands over at this place; where it adds up its buffers, this micro-batch's gradients are added first.
oracle::ExpectedTensors handed_by(EndToEndWalk& walk) {
  const Communicate when = communicate_of(walk.c);
  if (when == Communicate::running_total && static_cast<std::size_t>(walk.micro_batch) < walk.of_each.size())
    add_gradients(walk, walk.of_each[static_cast<std::size_t>(walk.micro_batch)]);
  oracle::ExpectedTensors all;
  for (const std::string& p : walk.parameters)
    all[p] = walk.seen("reduce", handed_prefix(walk.c, walk.micro_batch) + p,
                       adds_gradients(walk) ? gradient_of(walk, p) : buffer_of(walk, p));
  return all;
}

bool adds_replicas(const EndToEndWalk& walk) { return walk.micro_batch < 0 && replicas_of(walk.c) > 1; }

/// What another tapped, or, of replicas, another group; false where one of them did not.
bool take_tapped(const EndToEndWalk& walk, std::size_t from, oracle::ExpectedTensors& into) {
  const Case& whole = whole_of(walk.c);
  for (const std::string& p : walk.parameters) {
    const std::string tensor = handed_prefix(walk.c, walk.micro_batch) + p;
    if (adds_replicas(walk)) {
      const std::size_t group = from / sharers_of(whole);
      const auto kept = kept_by_group(whole, *walk.trace.whole, {walk.window, -1, "reduce", tensor}, group);
      if (!kept) return false;
      into[p] = oracle::as_read(*kept);
      continue;
    }
    const Tensor* tapped =
        handed_over(walk.trace, ranks_of(whole), from, walk.window, walk.micro_batch, "reduce", tensor);
    if (tapped == nullptr) return false;
    into[p] = oracle::as_read(*tapped);
  }
  return true;
}

/// The places of a window's sums: behind every micro-batch, or at its end alone; of replicas both.
std::vector<int> places_of_sums(const Case& c, int window) {
  if (!communicates_each(c)) return {-1};
  std::vector<int> places;
  for (std::size_t k = 0; k < micro_steps_of(c, static_cast<std::size_t>(window)); ++k)
    places.push_back(static_cast<int>(k));
  if (replicas_of(c) > 1) places.push_back(-1);
  return places;
}

/// Where both hold the same bits behind the sum and began the window alike: the checks of the first, from `begin` on, and
/// all that the next window starts from.
bool goes_on_like(EndToEndWalk& walk, const EndToEndWalk& first, std::size_t begin) {
  if (walk.kept != nullptr || first.ended || shards_optimizer(walk.c)) return false;
  for (int window = 0; window <= walk.window; ++window)
    if (!same_behind_sum(first.trace, walk.trace, window)) return false;
  walk.checks.insert(walk.checks.end(), first.checks.begin() + static_cast<std::ptrdiff_t>(begin), first.checks.end());
  ExpectedState own = std::exchange(walk.state, first.state);
  walk.state.running_mean = std::move(own.running_mean);  // no sum over ranks stands behind these
  walk.state.running_var = std::move(own.running_var);
  walk.count_before = first.count_before;
  walk.skipped = first.skipped;
  return true;
}

}  // namespace

void expect_all_gathered(EndToEndWalk& walk, int micro_batch, const std::string& when) {
  if (!shards_parameters(walk.c)) return;
  walk.micro_batch = micro_batch;
  for (const std::string& p : walk.parameters)
    if (const auto copy = walk.copies.find(p); copy != walk.copies.end())
      copy->second = walk.held("all_gather", when + p, [&] { return copy->second; });
  walk.micro_batch = -1;
}

void expect_reduce(EndToEndWalk& walk) {
  for (const int place : places_of_sums(walk.c, walk.window)) {
    walk.micro_batch = place;
    const Case& whole = whole_of(walk.c);
    const std::size_t step = adds_replicas(walk) ? sharers_of(whole) : 1;  // any of a group knows what it keeps
    std::vector<oracle::ExpectedTensors> handed;
    for (const std::size_t from : ranks_of_sum(whole, walk.c.rank, place)) {
      if (walk.ended) break;
      if (from / step == walk.c.rank / step)
        handed.push_back(handed_by(walk));
      else
        walk.ended = !take_tapped(walk, from, handed.emplace_back());
    }
    if (!walk.ended) hold_sums(walk, sums_over_ranks(walk, handed));
  }
  walk.micro_batch = -1;
}

namespace {

std::vector<oracle::ExpectedTensors> addends_of(const std::vector<oracle::ExpectedTensors>& handed,
                                                const std::vector<std::size_t>& added) {
  std::vector<oracle::ExpectedTensors> all;
  for (const std::size_t rank : added) all.push_back(handed[rank]);
  return all;
}

/// All sums of a window, each over what those hand over who add; the last one is left to be held.
oracle::ExpectedTensors sums_of_window(std::deque<EndToEndWalk>& ranks, int window) {
  const Case& whole = whole_of(ranks.front().c);
  oracle::ExpectedTensors last;
  for (const int place : places_of_sums(ranks.front().c, window)) {
    std::vector<oracle::ExpectedTensors> handed;
    for (EndToEndWalk& walk : ranks) {
      walk.micro_batch = place;
      handed.push_back(handed_by(walk));
    }
    std::map<std::size_t, oracle::ExpectedTensors> sums;  // by the first who adds
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const std::vector<std::size_t> added = ranks_of_sum(whole, rank, place);
      oracle::ExpectedTensors& sum = sums[added.front()];
      if (sum.empty()) sum = sums_over_ranks(ranks[rank], addends_of(handed, added));
      if (place >= 0) hold_sums(ranks[rank], sum);
    }
    last = std::move(sums.at(0));
  }
  for (EndToEndWalk& walk : ranks) walk.micro_batch = -1;
  return last;
}

}  // namespace

namespace {

/// All windows that these ranks train; ends where one of them knows no more.
void expect_windows(std::deque<EndToEndWalk>& ranks, const LeftBehind* before) {
  const oracle::SpreadScope bounds_alone(oracle::Spread::none);
  const auto windows = static_cast<int>(ranks.front().c.windows.size());
  const Case& part = ranks.front().c;
  const bool at_the_end = !communicates_each(part) || replicas_of(part) > 1;
  const bool pools = pools_steps(part);
  std::vector<EndToEndWalk*> all;
  for (EndToEndWalk& walk : ranks) all.push_back(&walk);
  for (int window = 0; window < windows; ++window) {
    if (!trains_window(part, static_cast<std::size_t>(window))) continue;
    for (EndToEndWalk& walk : ranks) {
      walk.window = window;
      expect_checkpoint(walk, before);
    }
    DecisionCount count;
    ExpectedState first_began;
    first_began.running_mean = ranks.front().state.running_mean;
    first_began.running_var = ranks.front().state.running_var;
    for (EndToEndWalk& walk : ranks) {
      if (walk.ended) return;
      walk.window = window;
      expect_broadcast(walk, &first_began);
      pools ? begin_window(walk) : expect_buffers(walk);
    }
    if (pools) expect_steps(all);
    for (const EndToEndWalk& walk : ranks) count.add(walk.count);
    for (EndToEndWalk& walk : ranks) walk.count = count;
    const oracle::ExpectedTensors sums = sums_of_window(ranks, window);
    EndToEndWalk& first = ranks.front();
    const std::size_t begin = first.checks.size();
    for (EndToEndWalk& walk : ranks) {
      if (&walk != &first && goes_on_like(walk, first, begin)) continue;
      if (at_the_end) hold_sums(walk, sums);
      expect_behind_buffers(walk);
    }
  }
}

}  // namespace

void expect_ranks(std::deque<EndToEndWalk>& ranks, LeftBehind* between) {
  expect_windows(ranks, between);
  if (between == nullptr) return;
  const EndToEndWalk& first = ranks.front();
  *between = {first.state, first.count_before, false};
  for (const EndToEndWalk& walk : ranks) between->ended = between->ended || walk.ended;
}

}  // namespace tally
