// Bugs of accumulate: what reaches the buffer, and what stays in it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/bug.hpp"

namespace tally::buffer_contents_bug {
namespace {

// Buffers start anew when a micro-batch has another size.
namespace cleared_on_new_size {

/// Whether two neighbours have the same size somewhere: else nothing shows that the size matters.
bool has_equal_neighbours(const Evidence& evidence) {
  for (const auto& sizes : evidence.c.windows) {
    if (std::adjacent_find(sizes.begin(), sizes.end()) != sizes.end()) return true;
  }
  return false;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int w = held.name.window, k = held.name.micro_batch;
  if (parameter_in(evidence, held, "in.buffer.").empty() || k <= 0) return std::nullopt;
  if (evidence.rows(w, k) == evidence.rows(w, k - 1) || !has_equal_neighbours(evidence)) return std::nullopt;
  return Values(held.expected.size(), 0.0);
}

const RegisterBug registered{{
    .name = "buffer-rebuilt-on-new-shape",
    .stages = {"accumulate"},
    .sentence = "the gradient is cleared whenever the size of the micro-batch changes",
    .formula = "A = 0 where the sizes differ",
    .remedy = "keep the gradients of a window when the size of the micro-batch changes; clear them only after the step",
    .left = left,
}};

}  // namespace cleared_on_new_size

// Only the first micro-batch reaches the buffer.
namespace first_only {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty() || held.name.micro_batch == 0) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
}

const RegisterBug registered{{
    .name = "microstep-dropped",
    .stages = {"accumulate"},
    .sentence = "only the first micro-batch is accumulated",
    .formula = "A = s_0",
    .remedy = "call `backward()` for every micro-batch of the window, with gradients that are kept",
    .left = left,
}};

}  // namespace first_only

// Every micro-batch starts the buffer anew.
namespace last_only {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor.starts_with("in.buffer.")) return Values(held.expected.size(), 0.0);
  if (!held.name.tensor.starts_with("buffer.")) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + held.name.tensor.substr(7));
}

const RegisterBug registered{{
    .name = "last-only",
    .stages = {"accumulate"},
    .sentence = "every micro-batch overwrites the gradient, so that only the last one counts",
    .formula = "A = s_k",
    .remedy = "call `optimizer.zero_grad()` only after the step, not before every `backward()`",
    .left = left,
    .restated = [](const Case&, const Trace&) -> std::vector<Restated> {
      Restated way;
      way.deviation.buffer = BufferStart::overwritten;
      return {way};
    },
}};

}  // namespace last_only

// The buffers of norm layers start anew with every micro-batch.
namespace last_only_of_norms {

bool of_norm(const Case& c, const std::string& parameter) {
  for (const Layer& l : c.model.layers) {
    if (is_norm(l) && parameter.starts_with(l.name + ".")) return true;
  }
  return false;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string read = parameter_in(evidence, held, "in.buffer.");
  if (of_norm(evidence.c, read)) return Values(held.expected.size(), 0.0);
  const std::string written = parameter_in(evidence, held, "buffer.");
  if (!of_norm(evidence.c, written)) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + written);
}

const RegisterBug registered{{
    .name = "bn-affine-gradient-last-only",
    .stages = {"accumulate"},
    .sentence = "the gradients of norm layers overwrite .grad, those of other layers are added",
    .formula = "A = s_k for norm weights and biases",
    .remedy = "add the norm layers' gradients to .grad, like those of other layers",
    .left = left,
}};

}  // namespace last_only_of_norms

// The first window starts from whatever memory held. Fresh memory reads as NaN here.
namespace memory_not_cleared {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const bool first =
      held.name.window == 0 && held.name.micro_batch == 0 && !parameter_in(evidence, held, "in.buffer.").empty();
  if (!first) return std::nullopt;
  return Values(held.expected.size(), std::numeric_limits<double>::quiet_NaN());
}

const RegisterBug registered{{
    .name = "uninitialised-accumulator",
    .stages = {"accumulate"},
    .sentence = "gradients are never cleared, and start from uninitialised memory",
    .formula = "A_0 = fresh memory",
    .remedy = "clear the gradients before the first micro-batch: `torch.zeros_like`, not `torch.empty_like`",
    .left = left,
}};

}  // namespace memory_not_cleared

// One micro-batch of one parameter is not added.
namespace one_addition_missed {

/// The place is that of the failing check: a window, a micro-batch and a parameter.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty() || held.name.text() != evidence.check.tap) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
}

const RegisterBug registered{{
    .name = "one-microbatch-of-one-tensor-dropped",
    .stages = {"accumulate"},
    .sentence = "one parameter misses one micro-batch of one window",
    .formula = "A = A, once",
    .remedy =
        "add every micro-batch's gradient of every parameter: look for a condition, a hook or a race that skips one",
    .left = left,
    .parameters = 1,
}};

}  // namespace one_addition_missed

// One buffer starts anew with every micro-batch, the others add.
namespace one_buffer_cleared {

/// The buffer is that of the failing check.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "in.buffer.").empty() || held.name.micro_batch <= 0) return std::nullopt;
  if (held.name.tensor != tap_name_of(evidence.check.tap).tensor) return std::nullopt;
  return Values(held.expected.size(), 0.0);
}

const RegisterBug registered{{
    .name = "boundary-reset-one-tensor",
    .stages = {"accumulate"},
    .sentence = "every micro-batch overwrites the gradient of one parameter, while the others accumulate",
    .formula = "A = s_k for one parameter",
    .remedy = "clear the gradients of all parameters only at the window's start, with one `optimizer.zero_grad()`",
    .left = left,
    .parameters = 1,
}};

}  // namespace one_buffer_cleared

// A window that overflowed leaves its buffers as they are.
namespace skipped_window_not_cleared {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "in.buffer.");
  const int before = held.name.window - 1;
  if (parameter.empty() || held.name.micro_batch != 0 || before < 0) return std::nullopt;
  if (evidence.scalar(before, "overflow_check", "found", 0) == 0) return std::nullopt;
  return evidence.tap(before, evidence.micro_batches(before) - 1, "accumulate", "buffer." + parameter);
}

const RegisterBug registered{{
    .name = "overflow-not-cleared",
    .stages = {"accumulate"},
    .sentence = "gradients are not cleared after a window that overflowed: the next window adds to infinity",
    .formula = "A_0 = the sum of a skipped window",
    .remedy = "clear the gradients of a skipped window too: call `optimizer.zero_grad()` in any case",
    .left = left,
}};

}  // namespace skipped_window_not_cleared

// The buffer keeps the window before.
namespace window_not_cleared {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "in.buffer.");
  if (parameter.empty() || held.name.micro_batch != 0 || held.name.window == 0) return std::nullopt;
  const int before = held.name.window - 1;
  // overflow-not-cleared says more of a window that was skipped.
  if (evidence.scalar(before, "overflow_check", "found", 0) != 0) return std::nullopt;
  return evidence.tap(before, evidence.micro_batches(before) - 1, "accumulate", "buffer." + parameter);
}

std::vector<Restated> restated(const Case&, const Trace&) {
  Restated kept, as_stepped;
  kept.deviation.buffer = BufferStart::kept;
  as_stepped.deviation.buffer = BufferStart::kept_as_stepped;
  as_stepped.formula = "A_0 = the last window's sum, unscaled and clipped in place";
  return {kept, as_stepped};
}

const RegisterBug registered{{
    .name = "missing-zero-between-windows",
    .stages = {"accumulate"},
    .sentence = "gradients are not cleared between windows: each window adds to the sum of the one before",
    .formula = "A_0 = the last window's sum",
    .remedy = "call `optimizer.zero_grad()` after every `optimizer.step()`",
    .call = "step",
    .left = left,
    .restated = restated,
}};

}  // namespace window_not_cleared

// The buffer is unscaled while it is being filled.
namespace unscaled_in_between {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "in.buffer.").empty() || held.name.micro_batch != 1) return std::nullopt;
  return times(held.expected, 1 / evidence.scale(held.name.window));
}

const RegisterBug registered{{
    .name = "unscale-mid-window",
    .stages = {"accumulate"},
    .sentence = "the gradient is unscaled after the first micro-batch, and scaled gradients are added to it",
    .formula = "A = s_0 / S + Σ_{k>0} s_k",
    .remedy = "call `scaler.unscale_(optimizer)` once, after the window's last `backward()`",
    .call = "unscale",
    .left = left,
}};

}  // namespace unscaled_in_between

/// Parameters whose buffer held something when the second window began.
std::set<std::string> kept_in(const Case& c, const Trace& trace) {
  std::set<std::string> kept;
  for (const std::string& p : parameters_of(c.model)) {
    const Tensor* buffer = trace.find(TapName{1, 0, "accumulate", "in.buffer." + p}.view());
    for (std::size_t i = 0; buffer != nullptr && i < buffer->elements(); ++i)
      if (buffer->value(i) != 0) kept.insert(p);
  }
  return kept;
}

const RegisterBug registered_some_never_cleared{{
    .name = "missing-zero-of-some",
    .sentence = "the gradients of some parameters are not cleared between windows",
    .formula = "A_0 = the last window's sum, of these parameters",
    .remedy = "clear the gradients of all parameters after the step: call `model.zero_grad()` if the optimizer holds "
              "only some of them",
    .restated = [](const Case& c, const Trace& trace) -> std::vector<Restated> {
      const std::set<std::string> kept = kept_in(c, trace);
      if (kept.empty() || kept.size() == parameters_of(c.model).size()) return {};
      Restated way;
      way.deviation.keeps = [kept](const std::string& p) { return kept.contains(p); };
      way.changed = 2;
      const std::string more = kept.size() > 1 ? " and of " + std::to_string(kept.size() - 1) + " more" : "";
      way.sentence = "the gradient of " + *kept.begin() + more + " is not cleared between windows, the others are";
      return {way};
    },
}};

}  // namespace
}  // namespace tally::buffer_contents_bug
