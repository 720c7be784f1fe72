#include "oracle/case/generations.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/micro_steps.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/tolerance/with_spread.hpp"
#include "properties/compare/broadcast.hpp"
#include "properties/compare/checkpoint.hpp"
#include "properties/compare/end_to_end_step.hpp"
#include "properties/compare/end_to_end_walk.hpp"
#include "properties/compare/in_order.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/rank_checks.hpp"
#include "properties/compare/ranks_of_trace.hpp"

namespace tally {

void begin_window(EndToEndWalk& walk) {
  walk.skipped = false;
  begin_buffers(walk);
  walk.addends.clear();
  walk.in_order.clear();
  walk.of_each.clear();
  expect_cast(walk);
}

void expect_steps(const std::vector<EndToEndWalk*>& ranks) {
  const EndToEndWalk& any = *ranks.front();
  const auto steps = static_cast<int>(micro_steps_of(any.c, static_cast<std::size_t>(any.window)));
  for (int k = 0; k < steps && !any.ended && !any.is_done(); ++k) expect_micro_step(ranks, k);
}

void expect_buffers(EndToEndWalk& walk) {
  begin_window(walk);
  if (pools_steps(walk.c)) return expect_steps({&walk});
  const int together = in_lockstep(walk.layers) ? walk.micro_batches() : 1;
  for (int first = 0; first < walk.micro_batches(); first += together) {
    Group group;
    group.first = first;
    group.last = first + together;
    group.count = walk.count_before;
    if (is_opaque(walk.c.model)) {
      expect_given(walk, group);
    } else {
      for (int k = group.first; k < group.last; ++k) expect_all_gathered(walk, k, "");
      expect_forward(walk, group);
      expect_loss(walk, group);
      for (int k = group.first; k < group.last; ++k) expect_all_gathered(walk, k, "again.");
      expect_backward(walk, group);
    }
    if (walk.is_done()) return;
  }
  if (goes_back_last_first(walk.c)) add_last_first(walk);
  const auto steps = static_cast<int>(micro_steps_of(walk.c, static_cast<std::size_t>(walk.window)));
  for (int k = walk.micro_batches(); k < steps; ++k)
    for (const char* when : {"", "again."}) expect_all_gathered(walk, k, when);
}

void expect_behind_buffers(EndToEndWalk& walk) {
  if (checks_overflow(walk.c.recipe.loss_scale)) expect_overflow_check(walk);
  if (walk.ended) return;
  if (!walk.skipped) {
    expect_gradient(walk);
    if (!walk.is_done()) expect_update(walk);
  } else if (walk.resynchronise) {
    expect_no_step(walk);
  }
  expect_end(walk);
  walk.count_before = walk.count;
}

namespace {

void expect_window(EndToEndWalk& walk) {
  expect_broadcast(walk, nullptr);
  expect_buffers(walk);
  if (walk.is_done() || walk.ended) return;
  if (in_ranks(walk.c)) expect_reduce(walk);
  if (!walk.ended && !walk.is_done()) expect_behind_buffers(walk);
}

}  // namespace

void expect_all(EndToEndWalk& walk) {
  const oracle::SpreadScope bounds_alone(oracle::Spread::none);
  const auto windows = static_cast<int>(walk.c.windows.size());
  for (walk.window = 0; walk.window < windows && !walk.ended && !walk.is_done(); ++walk.window) {
    if (!trains_window(walk.c, static_cast<std::size_t>(walk.window))) continue;
    expect_checkpoint(walk, nullptr);
    expect_window(walk);
  }
}

namespace {

/// Of one generation, from what the one before left behind; nullptr where the number of ranks never changes.
std::vector<GroupedChecks> checks_of_ranks(const RanksOfTrace& ranks, LeftBehind* between) {
  std::deque<EndToEndWalk> walks;
  for (std::size_t rank = 0; rank < ranks.count(); ++rank) walks.emplace_back(ranks.parts[rank], ranks.traces[rank]);
  expect_ranks(walks, between);
  std::vector<GroupedChecks> found;
  for (std::size_t rank = 0; rank < ranks.count(); ++rank)
    found.push_back({in_order(ranks.traces[rank], std::move(walks[rank].checks)), {}});
  return found;
}

std::vector<TensorCheck> checks_of_all_ranks(const Case& c, const Trace& trace) {
  const GenerationsOfTrace generations(c, trace);
  std::vector<std::vector<GroupedChecks>> found;
  LeftBehind between;
  for (const RanksOfTrace& ranks : generations.all)
    found.push_back(checks_of_ranks(ranks, generations.all.size() > 1 ? &between : nullptr));
  return checks_of_whole(generations, trace, found);
}

}  // namespace

std::vector<TensorCheck> end_to_end_lens(const Case& c, const Trace& trace) {
  if (in_ranks(c) && c.whole == nullptr) return checks_of_all_ranks(c, trace);
  EndToEndWalk walk(c, trace);
  expect_all(walk);
  return in_order(trace, std::move(walk.checks));
}

std::vector<TensorCheck> end_to_end_after(const Case& c, const Trace& trace, const std::vector<TensorCheck>& local) {
  EndToEndWalk walk(c, trace);
  walk.know_local(local);
  expect_all(walk);
  return in_order(trace, std::move(walk.checks));
}

}  // namespace tally
