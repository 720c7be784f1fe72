// Windows one after another, and the lenses of a whole trace.
#include <algorithm>
#include <limits>

#include "oracle/case/contract.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/judge/certified.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

int steps_of_window(const Walk& walk) {
  return static_cast<int>(micro_steps_of(walk.c, static_cast<std::size_t>(walk.window)));
}

// Under the local lens.

/// One window without a buffer: its end reads the gradient itself.
bool writes_directly(const Walk& walk) {
  if (in_ranks(walk.c)) return false;
  if (walk.micro_batches() != 1 || walk.parameters.empty()) return false;
  const std::string& p = walk.parameters.front();
  const bool read = walk.tap("unscale", "in.d." + p) != nullptr || walk.tap("overflow_check", "in.d." + p) != nullptr;
  return read && walk.tap("accumulate", "buffer." + p, 0) == nullptr;
}

/// The sum over ranks at this micro-batch.
void check_sum_of_ranks(Walk& walk) {
  walk_handed_over(walk);
  walk_reduce(walk);
}

/// A micro-batch's gradients into the buffers, and over ranks where they add up behind each.
void check_added_up(Walk& walk) {
  const Communicate when = in_ranks(walk.c) ? communicate_of(walk.c) : Communicate::window;
  if (when == Communicate::micro_batch) check_sum_of_ranks(walk);
  if (walk.micro_batch < walk.micro_batches() || when == Communicate::micro_batch) walk_accumulate(walk);
  if (when == Communicate::running_total) check_sum_of_ranks(walk);
}

/// Micro-steps of the other ranks in which this one has no rows.
void check_steps_without_rows(Walk& walk) {
  const bool shares = pools_steps(walk.c);
  if (!in_ranks(walk.c) || (!communicates_each(walk.c) && !shares)) return;
  const int steps = steps_of_window(walk);
  for (walk.micro_batch = walk.micro_batches(); walk.micro_batch < steps && !walk.is_done(); ++walk.micro_batch) {
    walk_all_gathered(walk);
    if (shares) walk_step_without_rows(walk);
    if (communicates_each(walk.c)) check_added_up(walk);
  }
  walk.micro_batch = -1;
}

// Under every lens.

/// What stands before a window's first micro-batch.
void begin_window(Walk& walk) {
  walk.skipped = false;
  walk.overflows.reset();
  walk.direct = walk.is_local() && writes_directly(walk);
  walk.gradients.clear();
  walk.forget(-1, std::numeric_limits<int>::max());
  begin_buffers(walk);
  walk.addends.clear();
  walk.in_order.clear();
}

/// Whether buffers are left to the sums over ranks, or to the last micro-batch that goes back first. Not of the local
/// lens.
bool accumulates_later(const Walk& walk) {
  return in_ranks(walk.c) && (communicates_each(walk.c) || goes_back_last_first(walk.c));
}

/// The micro-batches [first, last) through the model together.
void walk_group(Walk& walk, int first, int last) {
  const auto each = [&](auto stage) {
    for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) stage(walk);
    walk.micro_batch = -1;
  };
  each(walk_all_gathered);
  if (!walk.is_local()) {
    walk.of_group = walk.count_before;
    walk.own_of_group = {};
  }
  walk_forward(walk, first, last);
  if (walk.is_local()) walk_running_stats(walk, first, last);
  each(walk_loss);
  walk_backward(walk, first, last);
  walk.of_group.reset();
  if (walk.is_local()) {
    each(walk_messages);
    if (!walk.direct) each(check_added_up);
    return;
  }
  walk.count.add(walk.own_of_group);
  if (accumulates_later(walk)) return;
  each(walk_accumulate);
  walk.forget(first, last);
}

void walk_micro_batches(Walk& walk) {
  const int together = in_lockstep(walk.layers) ? walk.micro_batches() : 1;
  for (int first = 0; first < walk.micro_batches() && !walk.is_done(); first += together)
    walk_group(walk, first, first + together);
  if (walk.is_local()) return check_steps_without_rows(walk);
  if (walk.is_done()) return;
  if (goes_back_last_first(walk.c)) {
    for (walk.micro_batch = walk.micro_batches() - 1; walk.micro_batch >= 0; --walk.micro_batch) walk_accumulate(walk);
    walk.micro_batch = -1;
  }
  const int steps = steps_of_window(walk);
  for (walk.micro_batch = walk.micro_batches(); walk.micro_batch < steps; ++walk.micro_batch) walk_all_gathered(walk);
  walk.micro_batch = -1;
}

/// All micro-steps of a window whose statistics ranks put together.
void walk_micro_steps(const std::vector<Walk*>& ranks) {
  const Walk& any = *ranks.front();
  for (int k = 0; k < steps_of_window(any) && !any.ended && !any.is_done(); ++k) {
    walk_micro_step(ranks, k);
    for (Walk* walk : ranks) {
      if (walk->ended || k >= walk->micro_batches() || accumulates_later(*walk)) continue;
      walk->micro_batch = k;
      walk_accumulate(*walk);
      walk->micro_batch = -1;
      walk->forget(k, k + 1);
    }
  }
}

/// From the overflow check to the schedule.
void walk_behind_buffers(Walk& walk) {
  const bool searches = checks_overflow(walk.c.recipe.loss_scale);
  if (searches) walk_overflow(walk);
  if (walk.ended) return;
  if (searches && walk.is_local() && in_ranks(walk.c)) walk_agree(walk);
  if (walk.skipped) {
    walk_no_step(walk);
  } else {
    walk_gradient(walk);
    if (walk.is_local() || !walk.is_done()) walk_optimizer(walk);
  }
  if (searches) walk_scaler(walk);
  walk_schedule(walk);
  walk.count_before = walk.count;
}

void check_window(Walk& walk) {
  const bool together = in_ranks(walk.c);
  const bool at_the_end = together && (!communicates_each(walk.c) || replicas_of(walk.c) > 1);
  begin_window(walk);
  walk_count(walk);
  walk_broadcast(walk, nullptr);
  walk_cast(walk);
  walk_micro_batches(walk);
  if (walk.is_done()) return;
  if (at_the_end) walk_handed_over(walk);
  if (together && shards_optimizer(walk.c)) walk_own_pieces(walk);
  if (walk.like_first != nullptr && walk.like_first->take_over(walk)) return;
  const std::size_t begin = walk.checks.size();
  if (at_the_end) walk_reduce(walk);
  walk_behind_buffers(walk);
  walk_alike_on_stages(walk);
  if (walk.first != nullptr) walk.first->note(walk, begin);
}

void expect_window(Walk& walk) {
  walk_broadcast(walk, nullptr);
  walk_to_buffers(walk);
  if (walk.is_done() || walk.ended) return;
  if (in_ranks(walk.c)) walk_sums(walk);
  if (!walk.ended && !walk.is_done()) walk_behind_buffers(walk);
}

/// Where both hold the same bits behind the sum and began the window alike: the checks of the first, from `begin` on, and
/// all that the next window starts from.
bool goes_on_like(Walk& walk, const Walk& first, std::size_t begin) {
  if (walk.expected != nullptr || first.ended || shards_optimizer(walk.c)) return false;
  for (int window = 0; window <= walk.window; ++window)
    if (!same_behind_sum(first.trace, walk.trace, window)) return false;
  walk.checks.insert(walk.checks.end(), first.checks.begin() + static_cast<std::ptrdiff_t>(begin), first.checks.end());
  WindowState own = std::exchange(walk.state, first.state);
  walk.state.running_mean = std::move(own.running_mean);  // no sum over ranks stands behind these
  walk.state.running_var = std::move(own.running_var);
  walk.count_before = first.count_before;
  walk.skipped = first.skipped;
  return true;
}

/// One window of all ranks, end to end; false where one of them knows no more.
bool expect_window(std::deque<Walk>& ranks, int window, const LeftBehind* before) {
  std::vector<Walk*> all;
  for (Walk& walk : ranks) {
    all.push_back(&walk);
    walk.window = window;
    walk_taken_checkpoint(walk, before);
  }
  Walk& first = ranks.front();
  const bool at_the_end = !communicates_each(first.c) || replicas_of(first.c) > 1, pooled = pools_steps(first.c);
  const WindowState first_began = first.state;
  DecisionCount count;
  for (Walk& walk : ranks) {
    if (walk.ended) return false;
    walk_broadcast(walk, &first_began);
    if (!pooled) {
      walk_to_buffers(walk);
      continue;
    }
    begin_window(walk);
    walk_cast(walk);
  }
  if (pooled) walk_micro_steps(all);
  for (const Walk& walk : ranks) count.add(walk.count);
  for (Walk& walk : ranks) walk.count = count;
  const oracle::ExpectedTensors sums = sums_of_window(ranks, window);
  const std::size_t begin = first.checks.size();
  for (Walk& walk : ranks) {
    if (&walk != &first && goes_on_like(walk, first, begin)) continue;
    if (at_the_end) take_sums(walk, sums);
    walk_behind_buffers(walk);
  }
  return true;
}

}  // namespace

void walk_to_buffers(Walk& walk) {
  begin_window(walk);
  walk_cast(walk);
  pools_steps(walk.c) ? walk_micro_steps({&walk}) : walk_micro_batches(walk);
}

void walk_all(Walk& walk) {
  const auto windows = static_cast<int>(walk.c.windows.size());
  for (walk.window = 0; walk.window < windows && !walk.ended && !walk.is_done(); ++walk.window) {
    if (!trains_window(walk.c, static_cast<std::size_t>(walk.window))) continue;
    walk_taken_checkpoint(walk, nullptr);
    walk.is_local() ? check_window(walk) : expect_window(walk);
    if (walk.is_local()) walk_left_checkpoint(walk);
  }
}

void walk_all_and_sample(Walk& walk) {
  if (!wants_expectations()) return walk_all(walk);
  Expectations judged;
  {
    const JudgeObserver observer([&](const Place& place, const oracle::Expected& expected, const Tensor&) {
      judged.insert_or_assign(place.tap, expected);
    });
    walk_all(walk);
  }
  certify(walk.c, walk.trace, judged);
}

void walk_ranks(std::deque<Walk>& ranks, LeftBehind* between) {
  const Walk& first = ranks.front();
  for (int window = 0; window < static_cast<int>(first.c.windows.size()); ++window)
    if (trains_window(first.c, static_cast<std::size_t>(window)) && !expect_window(ranks, window, between)) break;
  if (between == nullptr) return;
  *between = {first.state, first.count_before, false};
  for (const Walk& walk : ranks) between->ended = between->ended || walk.ended;
}

}  // namespace tally
