// What a thread does together with others: block barriers and warp collectives.
#include "kernels/device/executor/waiting.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/device/checker/order.hpp"
#include "kernels/device/executor/launch.hpp"
#include "kernels/device/executor/state.hpp"

namespace tally::executor {

void fail_divergent_barrier(std::source_location at) {
  const State& s = state();
  throw ExecutorFinding(place() + ": divergent barrier: " + describe_thread(s.thread) + " is at " + describe(at) +
                        " while " + describe_thread(s.barrier.waiting.front()->thread) + " waits at " +
                        describe(s.barrier.at));
}

void release_barrier() {
  checker::pass_barrier();
  Barrier& barrier = state().barrier;
  std::vector<Fibre*>& ready = state().ready;  // the last is taken first
  ready.insert(ready.end(), barrier.waiting.rbegin(), barrier.waiting.rend());
  barrier.waiting.clear();
  barrier.arrived = 0;
}

void wait_at_barrier(std::source_location at) { wait_at_barrier_inlined(at); }

void complete_barrier() {
  if (state().barrier.arrived == state().alive) release_barrier();
}

namespace {

constexpr std::uint64_t of_no_lane = ~std::uint64_t{0};  // what a lane that takes no part gives

/// The lane whose value `lane` receives.
int source_lane(const Contribution& mine, int lane) {
  const int first = lane & ~(mine.width - 1), last = lane | (mine.width - 1);
  int source = lane;
  switch (mine.collective) {
    case Collective::shuffle:
      source = first | (mine.operand & (mine.width - 1));
      break;
    case Collective::shuffle_up:
      source = lane - mine.operand;
      break;
    case Collective::shuffle_down:
      source = lane + mine.operand;
      break;
    case Collective::shuffle_xor:
      source = lane ^ mine.operand;
      break;
    default:
      break;
  }
  const bool below = mine.collective == Collective::shuffle_up && source < first;
  return below || source > last || source < 0 ? lane : source;
}

std::uint64_t votes(const Pending& it) {
  std::uint64_t all = 0;
  for (unsigned lane = 0; lane < lanes_a_warp; ++lane) {
    if (it.arrived >> lane & 1u) all |= it.from[lane].value << lane;
  }
  return all;
}

std::uint64_t result_for(const Pending& it, unsigned lane) {
  switch (it.collective) {
    case Collective::sync:
      return 0;
    case Collective::ballot:
      return votes(it);
    case Collective::any:
      return votes(it) != 0;
    case Collective::all:
      return votes(it) == it.arrived;
    default:
      break;
  }
  const auto source = static_cast<unsigned>(source_lane(it.from[lane], static_cast<int>(lane)));
  return it.arrived >> source & 1u ? it.from[source].value : of_no_lane;
}

bool complete(const Pending& it, const Warp& warp) { return (it.mask & ~(it.arrived | warp.ended)) == 0; }

/// Hands every waiting lane its result. __syncwarp is the only collective that orders memory.
void release(const Pending& it, const Warp& warp) {
  const auto number = static_cast<unsigned>(&warp - state().warps.data());
  if (it.collective == Collective::sync) checker::pass_warp_barrier(number, it.arrived | (it.mask & warp.ended));
  for (unsigned lane = lanes_a_warp; lane-- > 0;) {
    if (it.waiting[lane] == nullptr) continue;
    it.waiting[lane]->result = result_for(it, lane);
    make_ready(it.waiting[lane]);
  }
}

void check_caller(const Contribution& mine, unsigned lane, std::source_location at) {
  const bool width_fits = mine.width >= 1 && mine.width <= 32 && (mine.width & (mine.width - 1)) == 0;
  if (width_fits && (mine.mask >> lane & 1u)) return;
  const std::string caller = place() + ", " + describe_thread(state().thread) + ": " +
                             std::string(name_of(mine.collective)) + " at " + describe(at);
  if (!width_fits)
    throw ExecutorFinding(caller + " has width " + std::to_string(mine.width) + ", expected a power of two up to 32");
  throw ExecutorFinding(caller + ": the calling lane " + std::to_string(lane) + " is not in its own mask");
}

Pending& join(Warp& warp, const Contribution& mine, unsigned lane, std::source_location at) {
  const auto same = std::ranges::find(warp.pending, mine.mask, &Pending::mask);
  if (same == warp.pending.end()) {
    return warp.pending.emplace_back(Pending{.collective = mine.collective, .mask = mine.mask, .from = {}, .at = {}});
  }
  if (same->collective == mine.collective) return *same;
  const auto other = static_cast<unsigned>(__builtin_ctz(same->arrived));
  throw ExecutorFinding(place() + ": divergent warp: lane " + std::to_string(lane) + " calls " +
                        std::string(name_of(mine.collective)) + " at " + describe(at) + ", lane " +
                        std::to_string(other) + " waits in " + std::string(name_of(same->collective)) + " at " +
                        describe(same->at[other]));
}

}  // namespace

unsigned lane_of_caller() {
  track();
  return state().thread % lanes_a_warp;
}

bool contribute(const Contribution& mine, std::source_location at) {
  track();
  State& s = state();
  Warp& warp = s.warps[s.thread / lanes_a_warp];
  const unsigned lane = s.thread % lanes_a_warp;
  check_caller(mine, lane, at);
  Pending& it = join(warp, mine, lane, at);
  it.arrived |= 1u << lane;
  it.from[lane] = mine;
  it.at[lane] = at;
  if (!complete(it, warp)) {
    it.waiting[lane] = s.fibre;
    return false;
  }
  s.fibre->result = result_for(it, lane);
  release(it, warp);
  warp.pending.erase(warp.pending.begin() + (&it - warp.pending.data()));
  return true;
}

std::uint64_t exchange(const Contribution& mine, std::source_location at) { return exchange_inlined(mine, at); }

void complete_collectives(Warp& warp) {
  for (std::size_t i = warp.pending.size(); i-- > 0;) {
    if (!complete(warp.pending[i], warp)) continue;
    release(warp.pending[i], warp);
    warp.pending.erase(warp.pending.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace tally::executor
