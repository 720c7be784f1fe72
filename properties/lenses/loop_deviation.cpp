// What a walk asks of a deviation; without one, the recipe's own.
#include <cmath>
#include <cstdio>
#include <limits>

#include "oracle/case/contract.hpp"
#include "properties/lenses/stages.hpp"

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

/// All of them, each in place, by their own norm, without a check.
void clip_together(const Walk& walk, std::map<std::string, Value>& gradients) {
  const Choice& clip = walk.c.recipe.clip;
  Expected coefficient = oracle::scalar(1);
  if (clips_by_norm(clip)) {
    oracle::ExpectedTensors read;
    for (const auto& [p, gradient] : gradients) read.emplace(p, *gradient.read());
    Expected norm = oracle::norm(walk.declared, clip, read);
    // Elements outside this piece have known sums of whole windows, but not of single micro-batches.
    if (whole_window(walk.trace, walk.window) != nullptr) norm.e.setConstant(std::numeric_limits<double>::infinity());
    coefficient = oracle::coefficient(walk.declared, clip, norm, walk.state.step);
  }
  for (auto& [p, gradient] : gradients) gradient = oracle::clipped(walk.declared, clip, coefficient, *gradient.read());
}

}  // namespace

void begin_buffers(Walk& walk) {
  const LoopDeviation* deviation = walk.deviation;
  const bool goes_on = deviation != nullptr && deviation->goes_on && deviation->goes_on(walk.window);
  if (deviation != nullptr && deviation->keeps) {
    std::erase_if(walk.buffers, [&](const auto& each) { return !deviation->keeps(each.first); });
    return;
  }
  if (deviation == nullptr || (deviation->buffer == BufferStart::cleared && !goes_on)) return walk.buffers.clear();
  if (deviation->buffer == BufferStart::kept_as_stepped) walk.buffers = walk.stepped;
}

void deviate(Walk& walk, std::map<std::string, Value>& gradients) {
  const LoopDeviation& deviation = *walk.deviation;
  if (deviation.clip == ClipPlace::each_gradient) clip_together(walk, gradients);
  if (deviation.clip == ClipPlace::running_sum && walk.micro_batch > 0) clip_together(walk, walk.buffers);
  if (deviation.buffer == BufferStart::overwritten) walk.buffers.clear();
  for (auto& [p, gradient] : gradients) {
    walk.told_input("accumulate", "in.d." + p, gradient);
    gradient = walk.seen("accumulate", "in.d." + p, *gradient.read());
    const auto before = walk.buffers.find(p);
    const Value buffer = before == walk.buffers.end() ? walk.zeros(p, walk.c.precision.accumulate) : before->second;
    walk.told_input("accumulate", "in.buffer." + p, buffer);
    if (before != walk.buffers.end()) before->second = walk.seen("accumulate", "in.buffer." + p, *buffer.read());
  }
}

Expected factor_of(const Walk& walk) {
  const Expected& scale = walk.state.scale.scale;
  const Expected c = oracle::factor(walk.declared, walk.c, static_cast<std::size_t>(walk.window),
                                    static_cast<std::size_t>(walk.micro_batch), scale);
  if (walk.deviation == nullptr || !walk.deviation->divisor) return c;
  const long double by = walk.deviation->divisor(walk.window, walk.micro_batch);
  const double off = c.v(0, 0) == 0 ? 0 : c.e(0, 0) / std::fabs(static_cast<double>(c.v(0, 0)));
  const long double exact = by == 0 ? 0 : scale.v(0, 0) / by;
  return oracle::scalar(exact, std::fabs(static_cast<double>(exact)) * (off + roundings_of_a_constant));
}

std::int64_t schedule_count(const Walk& walk) {
  const bool deviates = walk.deviation != nullptr && walk.deviation->schedule_count;
  return deviates ? walk.deviation->schedule_count(walk.window, walk.state.step) : walk.state.step;
}

std::int64_t optimizer_count(const Walk& walk) {
  const bool deviates = walk.deviation != nullptr && walk.deviation->optimizer_count;
  return deviates ? walk.deviation->optimizer_count(walk.window, walk.state.step) : walk.state.step;
}

std::int64_t corrected_count(const Walk& walk) {
  constexpr std::int64_t for_ever = std::int64_t{1} << 20;  // no power of a beta is left
  return walk.deviation != nullptr && walk.deviation->leaves_corrections_out ? for_ever : optimizer_count(walk);
}

Choice schedule_in_force(const Walk& walk) {
  const Choice& stated = walk.c.recipe.learning_rate;
  if (schedule_count(walk) == corrected_count(walk)) return stated;
  return {"constant", {{"base", decimal(oracle::learning_rate<long double>(stated, schedule_count(walk)))}}};
}

Choice decay_in_force(const Walk& walk) {
  Choice decay = walk.c.recipe.weight_decay;
  if (walk.deviation == nullptr || !walk.deviation->times_lambda) return decay;
  const auto lambda = oracle::number<long double>(decay.number("lambda"));
  decay.options["lambda"] = decimal(lambda * walk.deviation->times_lambda(walk.window));
  return decay;
}

int decays_of(const Walk& walk) {
  const bool deviates = walk.deviation != nullptr && walk.deviation->decays;
  return deviates ? walk.deviation->decays(walk.window) : 1;
}

ClipPlace clip_place(const Walk& walk) {
  return walk.deviation == nullptr ? ClipPlace::of_window : walk.deviation->clip;
}

Value with_penalty(const Walk& walk, const std::string& p, const Value& gradient) {
  const Expected& scale = walk.state.scale.scale;
  const long double by = scale.v(0, 0) * walk.deviation->penalty(walk.window, walk.micro_batch);
  const auto size = std::fabs(static_cast<double>(by));
  const Expected added = oracle::scaled(walk.declared, *walk.state.parameter.at(p).read(),
                                        oracle::scalar(by, size * roundings_of_a_constant));
  return oracle::accumulated(walk.declared, *gradient.read(), added);
}

}  // namespace tally
