// What follows the step: the scaler, and the schedule.
#include "oracle/case/contract.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/window/bound_stages.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

using oracle::as_read;

oracle::Expected count_of(std::int64_t count) { return oracle::scalar(static_cast<long double>(count)); }

/// Whether this window's decision to skip is known. Not where its tap is missing: what follows from it cannot be
/// judged.
bool decided(const Walk& walk) {
  const char* const decides = is_pipelined(walk.c) ? "agree" : "overflow_check";
  return !checks_overflow(walk.c.recipe.loss_scale) || walk.tap(decides, "found") != nullptr;
}

/// The flag that a stage read: the one found, else what the gradients say; 0 where nothing is searched. The flags of
/// both stages agree where a search left nothing.
void check_found(Walk& walk, const std::string& stage) {
  const bool searched = checks_overflow(walk.c.recipe.loss_scale);
  const Tensor* found = walk.tap(in_ranks(walk.c) ? "agree" : "overflow_check", "found");
  const Tensor* read = walk.tap(stage, "in.found");
  if (!searched && read == nullptr) return;
  if (searched && (read == nullptr || found != nullptr)) {
    walk.input(stage, "in.found", found);
    return;
  }
  const Tensor* other = stage == StageName::schedule ? walk.tap("scaler", "in.found") : nullptr;
  const bool set = !searched ? false : walk.overflows.value_or((other != nullptr ? other : read)->integer(0) != 0);
  walk.output(stage, "in.found", oracle::scalar(set ? 1 : 0));
}

/// A count of steps since the scale last changed, as the trace has it; one that no scaler reaches is not gone on from.
std::int64_t counter_of(const Walk& walk, const Tensor* tapped, std::int64_t otherwise) {
  if (tapped == nullptr) return otherwise;
  const std::int64_t counter = tapped->integer(0);
  return counter >= 0 && counter < walk.c.recipe.loss_scale.integer("growth_interval") ? counter : otherwise;
}

bool fits(const Tensor* tapped, const oracle::Expected& expected) {
  return tapped == nullptr || judge_bits({}, expected, *tapped).status != Status::fail;
}

/// What the next window says that it read fits this scale.
bool is_read_next(const Walk& walk, const oracle::ExpectedScale& left) {
  const auto read = [&](const char* tensor) { return walk.trace.find(TapView{walk.window + 1, -1, "scaler", tensor}); };
  return fits(read("in.scale"), oracle::predicted_constant(left.scale)) &&
         fits(read("in.growth_counter"), count_of(left.growth_counter));
}

/// Whether the decision was known: the scale that it leaves is one of two.
void leave_scale_open(Walk& walk, const oracle::ExpectedScale& read) {
  const Choice& loss_scale = walk.c.recipe.loss_scale;
  const Tensor *scale = walk.tap("scaler", "scale"), *counter = walk.tap("scaler", "growth_counter");
  const auto could_follow = [&](bool skipped) {
    const auto next = oracle::scale_after(walk.declared, loss_scale, read, skipped);
    return fits(scale, oracle::predicted_constant(next.scale)) && fits(counter, count_of(next.growth_counter));
  };
  if (could_follow(false) || could_follow(true)) {
    walk.leave_open("scaler", "scale");
    walk.leave_open("scaler", "growth_counter");
    // Where it is not tapped, that of the two which the next window goes on from.
    const auto kept = oracle::scale_after(walk.declared, loss_scale, read, false),
               backed_off = oracle::scale_after(walk.declared, loss_scale, read, true);
    walk.state.scale = !is_read_next(walk, kept) && is_read_next(walk, backed_off) ? backed_off : kept;
    if (scale != nullptr) walk.state.scale.scale = as_read(*scale);
    walk.state.scale.growth_counter = counter_of(walk, counter, walk.state.scale.growth_counter);
    return;
  }
  const auto next = oracle::scale_after(walk.declared, loss_scale, read, false);
  walk.output("scaler", "scale", oracle::predicted_constant(next.scale));
  walk.output("scaler", "growth_counter", count_of(next.growth_counter));
  walk.state.scale = next;
}

}  // namespace

void walk_scaler(Walk& walk) {
  const Choice& loss_scale = walk.c.recipe.loss_scale;
  const oracle::ExpectedScale& now = walk.state.scale;
  if (!walk.is_local()) {
    walk.state.scale = oracle::scale_after(walk.declared, loss_scale, now, walk.skipped);
    walk.output("scaler", "scale", walk.state.scale.scale);
    walk.output("scaler", "growth_counter", count_of(walk.state.scale.growth_counter));
    return;
  }
  check_found(walk, "scaler");
  const Value scale = walk.output("scaler", "in.scale", oracle::predicted_constant(now.scale));
  const Value counter = walk.output("scaler", "in.growth_counter", count_of(now.growth_counter));
  // Where a tap is missing, the state goes on as it should have.
  const oracle::ExpectedScale read{scale.known() ? *scale.read() : now.scale,
                                   counter_of(walk, counter.bits(), now.growth_counter)};
  if (!decided(walk)) return leave_scale_open(walk, read);
  const auto next = oracle::scale_after(walk.declared, loss_scale, read, walk.skipped);
  const Value after = walk.output("scaler", "scale", oracle::predicted_constant(next.scale));
  const Value count = walk.output("scaler", "growth_counter", count_of(next.growth_counter));
  walk.state.scale = {after.known() ? *after.read() : next.scale, counter_of(walk, count.bits(), next.growth_counter)};
}

void walk_schedule(Walk& walk) {
  const auto rate = [&] {
    walk.output(
        "schedule", "learning_rate",
        oracle::predicted_constant(oracle::rate(walk.declared, walk.c.recipe.learning_rate, schedule_count(walk))));
  };
  const Tensor* tapped = walk.tap("schedule", "step");
  const std::int64_t before = walk.state.step;
  std::int64_t after = before + (walk.skipped ? 0 : 1);
  if (!walk.is_local()) {
    rate();
    // Where the optimizer counts otherwise, either count may be what a recorder saw.
    const std::int64_t own = optimizer_count(walk) + (after - before);
    const bool its_own = tapped != nullptr && tapped->integer(0) == own;
    walk.state.step = after;
    walk.output("schedule", "step", count_of(its_own ? own : after));
    return;
  }
  walk.output("schedule", "in.step", count_of(before));
  check_found(walk, "schedule");
  const bool one_of_two = tapped == nullptr || tapped->integer(0) == before || tapped->integer(0) == after;
  if (decided(walk) || !one_of_two) {
    walk.output("schedule", "step", count_of(after));
  } else {
    walk.leave_open("schedule", "step");
    if (tapped != nullptr) after = tapped->integer(0);
  }
  rate();
  walk.state.step = after;
}

}  // namespace tally
