#include "properties/compare/ranks_of_trace.hpp"

#include <algorithm>

#include "kernels/trace/stage_place.hpp"
#include "oracle/case/ranks.hpp"

namespace tally {

const Tensor* handed_over(const Trace& trace, std::size_t ranks, std::size_t from, int window, int micro_batch,
                          const std::string& stage, const std::string& tensor) {
  if (ranks == 1) return trace.find(TapView{window, micro_batch, stage, tensor});
  return trace.whole == nullptr
             ? nullptr
             : trace.whole->find(TapView{window, micro_batch, stage, tensor, static_cast<int>(from)});
}

bool is_shared(const Case& whole, const TapName& name) {
  if (name.tensor.starts_with("in.") || name.stage == "overflow_check") return false;
  if (name.micro_batch < 0) return part_of_window(name.stage, name.tensor) >= 2;
  const bool sum = name.stage == "reduce" && part_of_window(name.stage, name.tensor) == 2;
  return sum || (name.stage == "accumulate" && communicate_of(whole) == Communicate::micro_batch);
}

std::string handed_prefix(const Case& c) {
  return communicate_of(c) == Communicate::micro_batch ? "in.d." : "in.buffer.";
}

RanksOfTrace::RanksOfTrace(const Case& the_whole, const Trace& trace) : whole(the_whole), traces(ranks_of(the_whole)) {
  for (std::size_t rank = 0; rank < traces.size(); ++rank) parts.push_back(part_of(whole, rank));
  for (Trace& own : traces) {
    own.claims = trace.claims;
    own.groups = trace.groups;
    own.case_hash = trace.case_hash;
    own.whole = &trace;
  }
  for (const Tap& tap : trace.taps()) {
    const auto rank = tap.name.rank < 0 ? 0 : static_cast<std::size_t>(tap.name.rank);
    if (rank < traces.size()) traces[rank].add(of_rank(tap.name, -1), tap.value);
  }
}

bool same_behind_sum(const Trace& one, const Trace& other, int window) {
  std::size_t here = 0;
  const auto counts = [window](const TapName& name) {
    return name.window == window && name.micro_batch < 0 && part_of_window(name.stage, name.tensor) >= 2;
  };
  for (const Tap& tap : one.taps()) {
    if (!counts(tap.name)) continue;
    const Tensor* its = other.find(tap.name.view());
    if (its == nullptr || !(*its == tap.value)) return false;
    ++here;
  }
  const auto there = std::ranges::count_if(other.taps(), [&](const Tap& tap) { return counts(tap.name); });
  return here == static_cast<std::size_t>(there);
}

std::string RanksOfTrace::name_in_whole(const std::string& tap, std::size_t rank) const {
  const auto name = tap_view_of(tap);
  if (!name || count() == 1) return tap;
  return of_rank(tap_name_of(tap), static_cast<int>(rank)).text();
}

std::size_t rank_of_tap(const std::string& tap) {
  const auto name = tap_view_of(tap);
  return name && name->rank >= 0 ? static_cast<std::size_t>(name->rank) : 0;
}

std::string without_rank(const std::string& tap) {
  const auto name = tap_view_of(tap);
  return name && name->rank >= 0 ? of_rank(tap_name_of(tap), -1).text() : tap;
}

}  // namespace tally
