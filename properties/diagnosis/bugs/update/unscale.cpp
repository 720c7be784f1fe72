// Bugs of unscale: when a window steps, and by which scale.
#include <algorithm>
#include <utility>

#include "oracle/case/contract.hpp"
#include "oracle/exact/exact.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/restatement.hpp"

namespace tally::unscale_bug {
namespace {

/// Whether a buffer goes on into the next window: no step was taken at the end.
bool carries_over(const Evidence& evidence, const std::string& parameter) {
  for (int w = 1; w < static_cast<int>(evidence.c.windows.size()); ++w) {
    const auto buffer = evidence.tap(w, 0, "accumulate", "in.buffer." + parameter).value_or(Values{});
    if (std::any_of(buffer.begin(), buffer.end(), [](double v) { return v != 0; })) return true;
  }
  return false;
}

// One parameter's gradient is copied before the last addition.
namespace copied_too_early {

/// The parameter is that of the failing check.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "d.");
  if (parameter.empty() || held.name.tensor != tap_name_of(evidence.check.tap).tensor) return std::nullopt;
  const int last = evidence.micro_batches(held.name.window) - 1;
  const auto early = evidence.tap(held.name.window, last, "accumulate", "in.buffer." + parameter);
  if (!early) return std::nullopt;
  return times(*early, 1 / evidence.scale(held.name.window));
}

const RegisterBug registered{{
    .name = "master-gradient-copied-too-early",
    .stages = {"unscale"},
    .sentence = "one parameter's gradient is copied before the last micro-batch has been added",
    .formula = "g = A_{K-1} / S for one parameter",
    .remedy = "copy the gradients to fp32 after the window's last `backward()`",
    .left = left,
    .parameters = 1,
}};

}  // namespace copied_too_early

// The gradients are divided by the scale of the next window.
namespace next_scale {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const double next = evidence.scalar(held.name.window, "scaler", "scale", 0);
  if (held.name.tensor != "in.inverse_scale" || next == 0) return std::nullopt;
  return Values{1 / next};
}

const RegisterBug registered{{
    .name = "unscaled-by-the-next-scale",
    .stages = {"unscale"},
    .sentence = "the scaler is updated before the gradients are unscaled: they are divided by the next scale",
    .formula = "g = A / S of the next window",
    .remedy = "call `scaler.update()` after `scaler.step(optimizer)`, not before the gradients are unscaled",
    .left = left,
}};

}  // namespace next_scale

// A step is taken after every micro-batch.
namespace stepped_after_each {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "in.buffer.");
  if (parameter.empty() || carries_over(evidence, parameter)) return std::nullopt;
  return evidence.tap(held.name.window, 0, "accumulate", "buffer." + parameter);
}

/// The window and the micro-batch that a regrouped window was.
std::pair<int, int> stated_place(const Case& c, int regrouped) {
  int window = 0;
  while (regrouped_window(c, window + 1, 0) <= regrouped) ++window;
  return {window, regrouped - regrouped_window(c, window, 0)};
}

struct Choices {
  bool by_own_items, schedule_by_window, keeps_buffers;
};

Restated stepped(const Case& c, const Choices& choices) {
  Restated way;
  way.steps_each_micro_batch = true;
  way.changed = 2 + choices.by_own_items + choices.keeps_buffers;
  way.deviation.divisor = [&c, own = choices.by_own_items](int regrouped, int) {
    const auto [w, k] = stated_place(c, regrouped);
    const auto window = static_cast<std::size_t>(w), micro_batch = static_cast<std::size_t>(k);
    return own ? oracle::micro_batch_items<long double>(c, window, micro_batch)
               : oracle::divisor<long double>(c, window, micro_batch);
  };
  if (choices.schedule_by_window) {
    way.deviation.schedule_count = [&c](int regrouped, std::int64_t taken) {
      const int w = stated_place(c, regrouped).first;
      return taken - regrouped + w;
    };
  }
  if (choices.keeps_buffers) {
    way.deviation.goes_on = [&c](int regrouped) { return stated_place(c, regrouped).second > 0; };
    way.formula = "step after each s_0 + … + s_k";
  }
  return way;
}

std::vector<Restated> restated(const Case& c, const Trace& trace) {
  if (trace.claims.divide == "window" || checks_overflow(c.recipe.loss_scale)) return {};
  std::vector<Restated> all;
  for (const bool own : {false, true}) {
    for (const bool by_window : {true, false}) {
      for (const bool keeps : {false, true}) all.push_back(stepped(c, {own, by_window, keeps}));
    }
  }
  return all;
}

const RegisterBug registered{{
    .name = "step-at-every-microbatch",
    .stages = {"unscale"},
    .sentence = "a step is taken after every micro-batch",
    .formula = "step after each s_k",
    .remedy = "call `optimizer.step()` once per window, after its {K} micro-batches",
    .call = "step",
    .left = left,
    .restated = restated,
}};

}  // namespace stepped_after_each

// The step is taken after the first micro-batch of a window.
namespace stepped_after_the_first {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "in.buffer.");
  if (parameter.empty() || !carries_over(evidence, parameter)) return std::nullopt;
  return evidence.tap(held.name.window, 0, "accumulate", "buffer." + parameter);
}

const RegisterBug registered{{
    .name = "boundary-off-by-one",
    .stages = {"unscale"},
    .sentence = "the step is taken after the first micro-batch of a window; the others go into the next window",
    .formula = "step where i % K = 0",
    .remedy = "step after the window's last micro-batch: `if (i + 1) % {K} == 0`, not `if i % {K} == 0`",
    .call = "step",
    .left = left,
}};

}  // namespace stepped_after_the_first

// Every micro-batch of the last window takes a step.
namespace stepped_at_the_end_of_data {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "in.buffer.");
  if (parameter.empty() || held.name.window + 1 != static_cast<int>(evidence.c.windows.size())) return std::nullopt;
  return evidence.tap(held.name.window, 0, "accumulate", "buffer." + parameter);
}

const RegisterBug registered{{
    .name = "forced-step-at-the-end",
    .stages = {"unscale"},
    .sentence = "every micro-batch of the last window forces a step, as at the end of the data",
    .formula = "step after each s_k of the last window",
    .remedy = "step once at the end of the data, after the last micro-batch",
    .call = "step",
    .left = left,
}};

}  // namespace stepped_at_the_end_of_data

// The step follows the micro-batch's number, by the first K.
namespace stepped_by_modulo {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "in.buffer.");
  if (parameter.empty()) return std::nullopt;
  int before = 0;
  if (evidence.micro_batches(0) == 0) return std::nullopt;  // a rank without rows in it
  for (int w = 0; w < held.name.window; ++w) before += evidence.micro_batches(w);
  for (int k = 0; k + 1 < evidence.micro_batches(held.name.window); ++k) {
    if ((before + k + 1) % evidence.micro_batches(0) != 0) continue;
    return evidence.tap(held.name.window, k, "accumulate", "buffer." + parameter);
  }
  return std::nullopt;
}

const RegisterBug registered{{
    .name = "k-by-modulo-while-it-changes",
    .stages = {"unscale"},
    .sentence = "the step is taken where the micro-batch's number is a multiple of the first K, although K changes",
    .formula = "step where (i + 1) % K_0 = 0",
    .remedy = "count the micro-batches of each window from 0, and step at that window's own K",
    .call = "step",
    .left = left,
}};

}  // namespace stepped_by_modulo

// The gradient is divided by the loss scale twice.
namespace unscaled_twice {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "d.").empty()) return std::nullopt;
  return times(held.expected, 1 / evidence.scale(held.name.window));
}

const RegisterBug registered{{
    .name = "double-unscale",
    .stages = {"unscale"},
    .sentence = "the gradient is divided by the loss scale twice",
    .formula = "g = A / S²",
    .remedy = "unscale once per window: `scaler.step` does it if `scaler.unscale_` was not called, so divide by the "
              "scale nowhere else",
    .left = left,
}};

}  // namespace unscaled_twice

}  // namespace
}  // namespace tally::unscale_bug
