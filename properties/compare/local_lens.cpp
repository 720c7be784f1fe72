#include <algorithm>

#include "oracle/case/generations.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/micro_steps.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "oracle/tolerance/with_spread.hpp"
#include "properties/compare/broadcast.hpp"
#include "properties/compare/certified.hpp"
#include "properties/compare/checkpoint.hpp"
#include "properties/compare/in_order.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/local_count.hpp"
#include "properties/compare/local_step.hpp"
#include "properties/compare/local_walk.hpp"
#include "properties/compare/rank_checks.hpp"

namespace tally {
namespace {

/// One window without a buffer: its end reads the gradient itself.
bool writes_directly(const LocalWalk& walk) {
  if (in_ranks(walk.c)) return false;
  if (walk.micro_batches() != 1 || walk.parameters.empty()) return false;
  const std::string& p = walk.parameters.front();
  const bool read = walk.tap("unscale", "in.d." + p) != nullptr || walk.tap("overflow_check", "in.d." + p) != nullptr;
  return read && walk.tap("accumulate", "buffer." + p, 0) == nullptr;
}

/// Every tap whose bound is to be split was.
bool is_done(const LocalWalk& walk) {
  if (walk.wanted == nullptr || walk.kept != nullptr) return false;
  const auto split = std::ranges::count_if(
      walk.checks, [&walk](const TensorCheck& check) { return walk.wanted->contains(check.tap); });
  return static_cast<std::size_t>(split) == walk.wanted->size();
}

/// The sum over ranks at this micro-batch.
void check_sum_of_ranks(LocalWalk& walk) {
  hand_over(walk);
  check_reduce(walk);
}

/// A micro-batch's gradients into the buffers, and over ranks where they add up behind each.
void check_added_up(LocalWalk& walk) {
  const Communicate when = in_ranks(walk.c) ? communicate_of(walk.c) : Communicate::window;
  if (when == Communicate::micro_batch) check_sum_of_ranks(walk);
  if (walk.micro_batch < walk.micro_batches() || when == Communicate::micro_batch) check_accumulate(walk);
  if (when == Communicate::running_total) check_sum_of_ranks(walk);
}

void check_micro_batches(LocalWalk& walk) {
  const int together = in_lockstep(walk.layers) ? walk.micro_batches() : 1;
  for (int first = 0; first < walk.micro_batches() && !is_done(walk); first += together) {
    const int last = first + together;
    for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) check_all_gathered(walk);
    walk.micro_batch = -1;
    check_forward(walk, first, last);
    check_running_stats(walk, first, last);
    for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) check_loss(walk);
    check_backward(walk, first, last);
    for (walk.micro_batch = first; walk.micro_batch < last; ++walk.micro_batch) check_messages(walk);
    for (walk.micro_batch = first; walk.micro_batch < last && !walk.direct; ++walk.micro_batch) check_added_up(walk);
    walk.micro_batch = -1;
  }
  const bool shares = pools_steps(walk.c);
  if (!in_ranks(walk.c) || (!communicates_each(walk.c) && !shares)) return;
  const auto steps = static_cast<int>(micro_steps_of(walk.c, static_cast<std::size_t>(walk.window)));
  for (walk.micro_batch = walk.micro_batches(); walk.micro_batch < steps && !is_done(walk); ++walk.micro_batch) {
    check_all_gathered(walk);
    if (shares) check_step_without_rows(walk);
    if (communicates_each(walk.c)) check_added_up(walk);
  }
  walk.micro_batch = -1;
}

void check_step(LocalWalk& walk) {
  const Recipe& recipe = walk.c.recipe;
  check_unscale(walk);
  if (clips_by_norm(recipe.clip)) check_norm(walk);
  if (clips(recipe.clip)) check_clip(walk);
  if (decays(recipe.weight_decay)) check_decay(walk);
  check_optimizer(walk);
  if (shards_optimizer(walk.c) && !shards_parameters(walk.c)) check_gathered(walk);
}

/// A window whose overflow was found must not touch the parameters.
void check_no_step(LocalWalk& walk) {
  for (const std::string& p : walk.parameters) {
    if (walk.tap("optimizer", p) == nullptr) continue;
    TensorCheck check = not_run({"local", TapName{walk.window, -1, "optimizer", p}.text(), "optimizer"});
    check.status = Status::fail;
    check.failure = FailureClass::skip_decision;
    check.elements = check.over_bound = walk.tap("optimizer", p)->elements();
    if (const Tensor* before = walk.tap("cast", "in." + p)) {
      const TensorCheck moved = bitwise_check(check.tap, check.stage, *before, *walk.tap("optimizer", p));
      check.worst_index = moved.worst_index;
      check.expected = moved.expected, check.got = moved.got, check.error = moved.error;
    }
    walk.checks.push_back(std::move(check));
  }
}

void check_window(LocalWalk& walk) {
  const bool checks = checks_overflow(walk.c.recipe.loss_scale), together = in_ranks(walk.c);
  const bool at_the_end = together && (!communicates_each(walk.c) || replicas_of(walk.c) > 1);
  walk.skipped = false;
  walk.overflows.reset();
  walk.direct = writes_directly(walk);
  check_count(walk);
  check_broadcast(walk);
  check_cast(walk);
  check_micro_batches(walk);
  if (is_done(walk)) return;
  if (at_the_end) hand_over(walk);
  if (together && shards_optimizer(walk.c)) check_own_pieces(walk);
  if (walk.like_first != nullptr && walk.like_first->take_over(walk)) return;
  const std::size_t begin = walk.checks.size();
  if (at_the_end) check_reduce(walk);
  if (checks) check_overflow(walk);
  if (checks && together) check_agree(walk);
  walk.skipped ? check_no_step(walk) : check_step(walk);
  if (checks) check_scaler(walk);
  check_schedule(walk);
  check_alike_on_stages(walk);
  if (walk.first != nullptr) walk.first->note(walk, begin);
}

}  // namespace

void check_all(LocalWalk& walk) {
  const oracle::SpreadScope at_first(oracle::Spread::least);
  const auto windows = static_cast<int>(walk.c.windows.size());
  for (walk.window = 0; walk.window < windows && !is_done(walk); ++walk.window) {
    if (!trains_window(walk.c, static_cast<std::size_t>(walk.window))) continue;
    check_taken_checkpoint(walk);
    check_window(walk);
    check_left_checkpoint(walk);
  }
}

void check_all_and_sample(LocalWalk& walk) {
  if (!wants_expectations()) return check_all(walk);
  Expectations judged;
  {
    const JudgeObserver observer([&](const Place& place, const oracle::Expected& expected, const Tensor&) {
      judged.insert_or_assign(place.tap, expected);
    });
    check_all(walk);
  }
  certify(walk.c, walk.trace, judged);
}

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
  LocalWalk walk(c, trace);
  walk.follows = follows;
  walk.gone_through = told;
  check_all_and_sample(walk);
  return in_order(trace, std::move(walk.checks));
}

}  // namespace tally
