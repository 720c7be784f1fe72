// What the end-to-end walk asks of a departure; without one, the recipe's own.
#include <cmath>
#include <cstdio>
#include <limits>

#include "oracle/case/kinds.hpp"
#include "oracle/window/bound_stages.hpp"
#include "properties/compare/end_to_end_walk.hpp"

namespace tally {
namespace {

using oracle::Expected;

/// Two roundings to fp32, of a constant that a subject may derive in any way.
constexpr double roundings_of_a_constant = 2 * std::numeric_limits<float>::epsilon();

/// To more digits than a long double has.
Decimal decimal(long double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.24Lg", value);
  return {text};
}

}  // namespace

void begin_buffers(EndToEndWalk& walk) {
  const Departure* departure = walk.departure;
  const bool goes_on = departure != nullptr && departure->goes_on && departure->goes_on(walk.window);
  if (departure != nullptr && departure->keeps) {
    std::erase_if(walk.buffers, [&](const auto& each) { return !departure->keeps(each.first); });
    return;
  }
  if (departure == nullptr || (departure->buffer == BufferStart::cleared && !goes_on)) return walk.buffers.clear();
  if (departure->buffer == BufferStart::kept_as_stepped) walk.buffers = walk.stepped;
}

void depart(EndToEndWalk& walk, Gradients& gradients) {
  const Departure& departure = *walk.departure;
  if (departure.clip == ClipPlace::each_gradient) clip_together(walk, gradients.separate);
  if (departure.clip == ClipPlace::running_sum && walk.micro_batch > 0) clip_together(walk, walk.buffers);
  if (departure.buffer == BufferStart::overwritten) walk.buffers.clear();
  for (auto& [p, gradient] : gradients.separate) {
    hold_input(walk, "accumulate", "in.d." + p, gradient);
    gradient = walk.seen("accumulate", "in.d." + p, std::move(gradient));
    const auto before = walk.buffers.find(p);
    const Expected zero = oracle::as_read(Tensor(walk.c.precision.accumulate, walk.c.tensors.at(p).shape));
    hold_input(walk, "accumulate", "in.buffer." + p, before == walk.buffers.end() ? zero : before->second);
    if (before != walk.buffers.end())
      before->second = walk.seen("accumulate", "in.buffer." + p, std::move(before->second));
  }
}

Expected factor_of(EndToEndWalk& walk, int micro_batch) {
  const Expected& scale = walk.state.scale.scale;
  Expected c = oracle::factor(walk.declared, walk.c, static_cast<std::size_t>(walk.window),
                              static_cast<std::size_t>(micro_batch), scale);
  if (walk.departure == nullptr) return c;
  if (walk.departure->divisor) {
    const long double by = walk.departure->divisor(walk.window, micro_batch);
    const double off = c.v(0, 0) == 0 ? 0 : c.e(0, 0) / std::fabs(static_cast<double>(c.v(0, 0)));
    const long double exact = by == 0 ? 0 : scale.v(0, 0) / by;
    c = oracle::scalar(exact, std::fabs(static_cast<double>(exact)) * (off + roundings_of_a_constant));
  }
  walk.micro_batch = micro_batch;
  hold_input(walk, "loss", "in.factor", c);
  walk.micro_batch = -1;
  return c;
}

std::int64_t schedule_count(const EndToEndWalk& walk) {
  const bool departs = walk.departure != nullptr && walk.departure->schedule_count;
  return departs ? walk.departure->schedule_count(walk.window, walk.state.step) : walk.state.step;
}

std::int64_t optimizer_count(const EndToEndWalk& walk) {
  const bool departs = walk.departure != nullptr && walk.departure->optimizer_count;
  return departs ? walk.departure->optimizer_count(walk.window, walk.state.step) : walk.state.step;
}

std::int64_t corrected_count(const EndToEndWalk& walk) {
  constexpr std::int64_t for_ever = std::int64_t{1} << 20;  // no power of a beta is left
  return walk.departure != nullptr && walk.departure->leaves_corrections_out ? for_ever : optimizer_count(walk);
}

Choice schedule_in_force(const EndToEndWalk& walk) {
  const Choice& stated = walk.c.recipe.learning_rate;
  if (schedule_count(walk) == corrected_count(walk)) return stated;
  return {"constant", {{"base", decimal(oracle::learning_rate<long double>(stated, schedule_count(walk)))}}};
}

Choice decay_in_force(const EndToEndWalk& walk) {
  Choice decay = walk.c.recipe.weight_decay;
  if (walk.departure == nullptr || !walk.departure->times_lambda) return decay;
  const auto lambda = oracle::number<long double>(decay.number("lambda"));
  decay.options["lambda"] = decimal(lambda * walk.departure->times_lambda(walk.window));
  return decay;
}

int decays_of(const EndToEndWalk& walk) {
  const bool departs = walk.departure != nullptr && walk.departure->decays;
  return departs ? walk.departure->decays(walk.window) : 1;
}

ClipPlace clip_place(const EndToEndWalk& walk) {
  return walk.departure == nullptr ? ClipPlace::of_window : walk.departure->clip;
}

Expected with_penalty(const EndToEndWalk& walk, const std::string& p, const Expected& gradient) {
  const Expected& scale = walk.state.scale.scale;
  const long double by = scale.v(0, 0) * walk.departure->penalty(walk.window, walk.micro_batch);
  const auto size = std::fabs(static_cast<double>(by));
  const Expected added =
      oracle::scaled(walk.state.slots.at(p).parameter, oracle::scalar(by, size * roundings_of_a_constant));
  return oracle::accumulated(walk.declared, gradient, added);
}

void clip_together(const EndToEndWalk& walk, oracle::ExpectedTensors& gradients) {
  const Choice& clip = walk.c.recipe.clip;
  Expected coefficient = oracle::scalar(1);
  if (clips_by_norm(clip)) {
    Expected norm = oracle::norm(walk.declared, clip, gradients);
    // Of elements that are not here the sums of whole windows are known, of one micro-batch nothing is.
    if (whole_window(walk.window) != nullptr) norm.e.setConstant(std::numeric_limits<double>::infinity());
    coefficient = oracle::coefficient(clip, norm);
  }
  for (auto& [p, gradient] : gradients) gradient = oracle::clipped(clip, coefficient, gradient);
}

void hold_input(EndToEndWalk& walk, const std::string& stage, const std::string& tensor, const Expected& expected) {
  if (walk.departure != nullptr && walk.tap(stage, tensor) != nullptr)
    walk.held(stage, tensor, [&] { return expected; });
}

}  // namespace tally
