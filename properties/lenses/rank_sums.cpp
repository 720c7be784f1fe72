// Sums over ranks under a lens that expects: of all ranks together, or of one with what the others tapped.
#include <utility>

#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/window/rank_stages.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

using oracle::Expected;

/// The sums of all parameters, by what each who adds handed over.
oracle::ExpectedTensors sums_over_ranks(const Walk& any, const std::vector<oracle::ExpectedTensors>& handed) {
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

/// What a rank hands over at this place; where it adds up its buffers, this micro-batch's gradients are added first.
/// A rank without a micro-batch adds nothing.
oracle::ExpectedTensors handed_by(Walk& walk) {
  const bool has_rows = walk.micro_batch < walk.micro_batches();
  if (communicate_of(walk.c) == Communicate::running_total && walk.micro_batch >= 0 && has_rows) walk_accumulate(walk);
  oracle::ExpectedTensors all;
  for (const std::string& p : walk.parameters) {
    Value own;
    if (adds_gradients(walk))
      own = has_rows ? gradient_added(walk, p) : walk.zeros(p, walk.c.precision.storage);
    else if (const auto buffer = walk.buffers.find(p); buffer != walk.buffers.end())
      own = buffer->second;
    else
      own = walk.zeros(p, walk.c.precision.accumulate);
    all[p] = walk.seen("reduce", handed_prefix(walk.c, walk.micro_batch) + p, *own.read());
  }
  return all;
}

/// What another tapped, or, of replicas, another group; false where one of them did not.
bool take_tapped(const Walk& walk, std::size_t from, oracle::ExpectedTensors& into) {
  const Case& whole = whole_of(walk.c);
  for (const std::string& p : walk.parameters) {
    const std::string tensor = handed_prefix(walk.c, walk.micro_batch) + p;
    if (is_sum_of_replicas(walk)) {
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

std::vector<oracle::ExpectedTensors> addends_of(const std::vector<oracle::ExpectedTensors>& handed,
                                                const std::vector<std::size_t>& added) {
  std::vector<oracle::ExpectedTensors> all;
  for (const std::size_t rank : added) all.push_back(handed[rank]);
  return all;
}

}  // namespace

void take_sums(Walk& walk, const oracle::ExpectedTensors& sums) {
  std::map<std::string, Value> held;
  for (const std::string& p : walk.parameters)
    held[p] = walk.output("reduce", "reduced." + p, [&](const oracle::Declared&) { return sums.at(p); });
  walk.in_order.clear();  // what stands in the buffers is no longer what this rank's gradients add up to
  if (adds_gradients(walk))
    add_gradients(walk, std::move(held));
  else
    walk.buffers = std::move(held);
}

void walk_sums(Walk& walk) {
  for (const int place : places_of_sums(walk.c, walk.window)) {
    walk.micro_batch = place;
    const Case& whole = whole_of(walk.c);
    const std::size_t step = is_sum_of_replicas(walk) ? sharers_of(whole) : 1;  // any of a group knows what it keeps
    std::vector<oracle::ExpectedTensors> handed;
    for (const std::size_t from : ranks_of_sum(whole, walk.c.rank, place)) {
      if (walk.ended) break;
      if (from / step == walk.c.rank / step)
        handed.push_back(handed_by(walk));
      else
        walk.ended = !take_tapped(walk, from, handed.emplace_back());
    }
    if (!walk.ended) take_sums(walk, sums_over_ranks(walk, handed));
  }
  walk.micro_batch = -1;
}

oracle::ExpectedTensors sums_of_window(std::deque<Walk>& ranks, int window) {
  const Case& whole = whole_of(ranks.front().c);
  oracle::ExpectedTensors last;
  for (const int place : places_of_sums(ranks.front().c, window)) {
    std::vector<oracle::ExpectedTensors> handed;
    for (Walk& walk : ranks) {
      walk.micro_batch = place;
      handed.push_back(handed_by(walk));
    }
    std::map<std::size_t, oracle::ExpectedTensors> sums;  // by the first who adds
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const std::vector<std::size_t> added = ranks_of_sum(whole, rank, place);
      oracle::ExpectedTensors& sum = sums[added.front()];
      if (sum.empty()) sum = sums_over_ranks(ranks[rank], addends_of(handed, added));
      if (place >= 0) take_sums(ranks[rank], sum);
    }
    last = std::move(sums.at(0));
  }
  for (Walk& walk : ranks) walk.micro_batch = -1;
  return last;
}

}  // namespace tally
