// Suspects of accumulate: what reaches the buffer, and what stays in it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally::buffer_contents_suspect {
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

const RegisterSuspect registered{{
    .name = "buffer-rebuilt-on-new-shape",
    .faults = {"buffer-rebuilt-on-new-shape"},
    .stages = {"accumulate"},
    .sentence = "the gradient is cleared whenever the size of the micro-batch changes",
    .formula = "A = 0 where the sizes differ",
    .remedy = "keep the gradients of a window when the size of the micro-batch changes; clear them only after the step",
    .left = left,
}};

}  // namespace cleared_on_new_size

// Every micro-batch is clipped by its own norm before it is added.
namespace clipped_per_micro_batch {

/// The norm of all gradients that this micro-batch left.
double own_norm(const Evidence& evidence, int window, int micro_batch) {
  double sum = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    const auto gradient = evidence.tap(window, micro_batch, "backward", "d." + p);
    for (const double g : gradient.value_or(Values{})) sum += g * g;
  }
  return std::sqrt(sum);
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Choice& clip = evidence.c.recipe.clip;
  if (clip.kind != kinds::global_norm || parameter_in(evidence, held, "in.d.").empty()) return std::nullopt;
  const double norm = own_norm(evidence, held.name.window, held.name.micro_batch) + clip.number("epsilon").to_double();
  return times(held.expected, std::min(1.0, clip.number("max_norm").to_double() / norm));
}

const RegisterSuspect registered{{
    .name = "clip-per-microbatch",
    .faults = {"clip-per-microbatch"},
    .stages = {"accumulate"},
    .sentence = "every micro-batch is clipped by its own norm before it is added",
    .formula = "A = Σ clip(s_k)",
    .remedy = "clip once per window, after its last `backward()` and before `optimizer.step()`",
    .call = "clip",
    .left = left,
}};

}  // namespace clipped_per_micro_batch

// Only the first micro-batch reaches the buffer.
namespace first_only {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty() || held.name.micro_batch == 0) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
}

const RegisterSuspect registered{{
    .name = "microstep-dropped",
    .faults = {"microstep-dropped"},
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

const RegisterSuspect registered{{
    .name = "last-only",
    .faults = {"overwrite-not-add", "zero-grad-inside-loop", "shard-reset-at-every-boundary"},
    .stages = {"accumulate"},
    .sentence = "every micro-batch overwrites the gradient, so that only the last one counts",
    .formula = "A = s_k",
    .remedy = "call `optimizer.zero_grad()` only after the step, not before every `backward()`",
    .left = left,
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

const RegisterSuspect registered{{
    .name = "bn-affine-gradient-last-only",
    .faults = {"bn-affine-gradient-last-only"},
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

const RegisterSuspect registered{{
    .name = "uninitialised-accumulator",
    .faults = {"uninitialised-accumulator"},
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

const RegisterSuspect registered{{
    .name = "one-microbatch-of-one-tensor-dropped",
    .faults = {"one-microbatch-of-one-tensor-dropped"},
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

const RegisterSuspect registered{{
    .name = "boundary-reset-one-tensor",
    .faults = {"boundary-reset-one-tensor"},
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

const RegisterSuspect registered{{
    .name = "overflow-not-cleared",
    .faults = {"overflow-not-cleared"},
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

const RegisterSuspect registered{{
    .name = "missing-zero-between-windows",
    .faults = {"missing-zero-between-windows"},
    .stages = {"accumulate"},
    .sentence = "gradients are not cleared between windows: each window adds to the sum of the one before",
    .formula = "A_0 = the last window's sum",
    .remedy = "call `optimizer.zero_grad()` after every `optimizer.step()`",
    .call = "step",
    .left = left,
}};

}  // namespace window_not_cleared

// The buffer is unscaled while it is being filled.
namespace unscaled_in_between {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (parameter_in(evidence, held, "in.buffer.").empty() || held.name.micro_batch != 1) return std::nullopt;
  return times(held.expected, 1 / evidence.scale(held.name.window));
}

const RegisterSuspect registered{{
    .name = "unscale-mid-window",
    .faults = {"unscale-mid-window"},
    .stages = {"accumulate"},
    .sentence = "the gradient is unscaled after the first micro-batch, and scaled gradients are added to it",
    .formula = "A = s_0 / S + Σ_{k>0} s_k",
    .remedy = "call `scaler.unscale_(optimizer)` once, after the window's last `backward()`",
    .call = "unscale",
    .left = left,
}};

}  // namespace unscaled_in_between

}  // namespace
}  // namespace tally::buffer_contents_suspect
