// What follows the step: the scaler, and the schedule.
#include "oracle/case/kinds.hpp"
#include "oracle/case/pipeline.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/window/predicted_stages.hpp"
#include "properties/compare/local_walk.hpp"

namespace tally {
namespace {

using oracle::as_read;

/// Whether this window's decision to skip is known. Not where its tap is missing: what follows from it cannot be
/// judged.
bool decided(const LocalWalk& walk) {
  const char* const decides = is_pipelined(walk.c) ? "agree" : "overflow_check";
  return !checks_overflow(walk.c.recipe.loss_scale) || walk.tap(decides, "found") != nullptr;
}

void leave_open(LocalWalk& walk, const std::string& stage, const std::string& tensor) {
  walk.checks.push_back(not_run({"local", TapName{walk.window, -1, stage, tensor}.text(), stage}));
}

/// The flag that a stage read: the one found, else what the gradients say; 0 where nothing is searched. Of a search
/// that left nothing the flags of both stages agree.
void check_found(LocalWalk& walk, const std::string& stage) {
  const bool searched = checks_overflow(walk.c.recipe.loss_scale);
  const Tensor* found = walk.tap(in_ranks(walk.c) ? "agree" : "overflow_check", "found");
  const Tensor* read = walk.tap(stage, "in.found");
  if (!searched && read == nullptr) return;
  if (searched && (read == nullptr || found != nullptr)) {
    walk.handed(stage, "in.found", found);
    return;
  }
  const Tensor* other = stage == "schedule" ? walk.tap("scaler", "in.found") : nullptr;
  const bool set = !searched ? false : walk.overflows.value_or((other != nullptr ? other : read)->integer(0) != 0);
  walk.check_output(stage, "in.found", oracle::scalar(set ? 1 : 0));
}

/// A count of steps since the scale last changed, as the trace has it; one that no scaler reaches is not gone on from.
std::int64_t counter_of(const LocalWalk& walk, const Tensor* tapped, std::int64_t otherwise) {
  if (tapped == nullptr) return otherwise;
  const std::int64_t counter = tapped->integer(0);
  return counter >= 0 && counter < walk.c.recipe.loss_scale.integer("growth_interval") ? counter : otherwise;
}

bool fits(const Tensor* tapped, const oracle::Expected& expected) {
  return tapped == nullptr || judge_bits({}, expected, *tapped).status != Status::fail;
}

/// What the next window says that it read fits this scale.
bool is_read_next(const LocalWalk& walk, const oracle::ExpectedScale& left) {
  const auto read = [&](const char* tensor) { return walk.trace.find(TapView{walk.window + 1, -1, "scaler", tensor}); };
  return fits(read("in.scale"), oracle::predicted_constant(left.scale)) &&
         fits(read("in.growth_counter"), oracle::scalar(static_cast<long double>(left.growth_counter)));
}

/// Whether the decision was known: the scale that it leaves is one of two.
void leave_scale_open(LocalWalk& walk, const oracle::ExpectedScale& read) {
  const Choice& loss_scale = walk.c.recipe.loss_scale;
  const Tensor *scale = walk.tap("scaler", "scale"), *counter = walk.tap("scaler", "growth_counter");
  const auto could_follow = [&](bool skipped) {
    const auto next = oracle::scale_after(loss_scale, read, skipped);
    return fits(scale, oracle::predicted_constant(next.scale)) &&
           fits(counter, oracle::scalar(static_cast<long double>(next.growth_counter)));
  };
  if (could_follow(false) || could_follow(true)) {
    leave_open(walk, "scaler", "scale");
    leave_open(walk, "scaler", "growth_counter");
    // Where it is not tapped, that of the two which the next window goes on from.
    const auto kept = oracle::scale_after(loss_scale, read, false),
               backed_off = oracle::scale_after(loss_scale, read, true);
    walk.state.scale = !is_read_next(walk, kept) && is_read_next(walk, backed_off) ? backed_off : kept;
    if (scale != nullptr) walk.state.scale.scale = as_read(*scale);
    walk.state.scale.growth_counter = counter_of(walk, counter, walk.state.scale.growth_counter);
    return;
  }
  const auto next = oracle::scale_after(loss_scale, read, false);
  walk.check_output("scaler", "scale", oracle::predicted_constant(next.scale));
  walk.check_output("scaler", "growth_counter", oracle::scalar(static_cast<long double>(next.growth_counter)));
  walk.state.scale = next;
}

}  // namespace

void check_scaler(LocalWalk& walk) {
  const Choice& loss_scale = walk.c.recipe.loss_scale;
  const oracle::ExpectedScale& now = walk.state.scale;
  check_found(walk, "scaler");
  const Tensor* scale = walk.check_output("scaler", "in.scale", oracle::predicted_constant(now.scale));
  const Tensor* counter =
      walk.check_output("scaler", "in.growth_counter", oracle::scalar(static_cast<long double>(now.growth_counter)));
  // Where a tap is missing, the state goes on as it should have.
  const oracle::ExpectedScale read{scale == nullptr ? now.scale : as_read(*scale),
                                   counter_of(walk, counter, now.growth_counter)};
  if (!decided(walk)) return leave_scale_open(walk, read);
  const auto next = oracle::scale_after(loss_scale, read, walk.skipped);
  const Tensor* after = walk.check_output("scaler", "scale", oracle::predicted_constant(next.scale));
  const Tensor* count =
      walk.check_output("scaler", "growth_counter", oracle::scalar(static_cast<long double>(next.growth_counter)));
  walk.state.scale = {after == nullptr ? next.scale : as_read(*after), counter_of(walk, count, next.growth_counter)};
}

void check_schedule(LocalWalk& walk) {
  walk.check_output("schedule", "in.step", oracle::scalar(static_cast<long double>(walk.state.step)));
  check_found(walk, "schedule");
  const Tensor* tapped = walk.tap("schedule", "step");
  std::int64_t after = walk.state.step + (walk.skipped ? 0 : 1);
  const bool one_of_two = tapped == nullptr || tapped->integer(0) == walk.state.step || tapped->integer(0) == after;
  if (decided(walk) || !one_of_two) {
    walk.check_output("schedule", "step", oracle::scalar(static_cast<long double>(after)));
  } else {
    leave_open(walk, "schedule", "step");
    if (tapped != nullptr) after = tapped->integer(0);
  }
  walk.check_output(
      "schedule", "learning_rate",
      oracle::predicted_constant(oracle::rate(walk.declared, walk.c.recipe.learning_rate, walk.state.step)));
  walk.state.step = after;
}

}  // namespace tally
