// Bugs of accumulate: how a sum is rounded, read and laid out.
#include <algorithm>
#include <cmath>

#include "properties/diagnosis/bug.hpp"

namespace tally::buffer_formats_bug {
namespace {

// The buffer is rounded to bf16 after every addition.
namespace bf16_buffer {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty()) return std::nullopt;
  const auto before = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
  const auto addend = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + parameter);
  if (!before || !addend) return std::nullopt;
  Values sum = *before;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = rounded_to(Dtype::bf16, rounded_to(Dtype::fp32, sum[i] + (*addend)[i]));
  }
  return sum;
}

const RegisterBug registered{{
    .name = "bf16-accumulator",
    .stages = {"accumulate"},
    .sentence = "the sum over micro-batches is rounded to bf16 after every addition",
    .formula = "A = bf16(A + s_k)",
    .remedy = "accumulate gradients in fp32: keep fp32 parameters under autocast, or fp32 gradient buffers beside bf16 "
              "gradients",
    .left = left,
}};

}  // namespace bf16_buffer

// The buffer is rounded to fp16 after every addition.
namespace fp16_buffer {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty()) return std::nullopt;
  const auto before = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
  const auto addend = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + parameter);
  if (!before || !addend) return std::nullopt;
  Values sum = *before;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = rounded_to(Dtype::fp16, rounded_to(Dtype::fp32, sum[i] + (*addend)[i]));
  }
  return sum;
}

const RegisterBug registered{{
    .name = "low-precision-accumulator",
    .stages = {"accumulate"},
    .sentence = "the sum over micro-batches is rounded to fp16 after every addition",
    .formula = "A = fp16(A + s_k)",
    .remedy = "accumulate gradients in fp32: keep fp32 parameters under autocast, or fp32 gradient buffers beside fp16 "
              "gradients",
    .left = left,
}};

}  // namespace fp16_buffer

// The bits of an fp16 gradient are added as if they were bf16.
namespace bits_read_as_bf16 {

double mistaken(double value) {
  Tensor half(Dtype::fp16, {1}), other(Dtype::bf16, {1});
  half.set(0, value);
  other.set_bits(0, half.bits(0));
  return other.value(0);
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (evidence.c.precision.storage != Dtype::fp16) return std::nullopt;
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty()) return std::nullopt;
  const auto before = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
  const auto addend = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + parameter);
  if (!before || !addend) return std::nullopt;
  Values sum = *before;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += mistaken((*addend)[i]);
  return sum;
}

const RegisterBug registered{{
    .name = "cast-missing-in-add",
    .stages = {"accumulate"},
    .sentence = "the bits of an fp16 gradient are added as if they were bf16: a cast is missing",
    .formula = "A = A + bf16 of the bits of s_k",
    .remedy = "cast the fp16 gradient before it is added: `buffer += gradient.to(buffer.dtype)`",
    .left = left,
}};

}  // namespace bits_read_as_bf16

// Every gradient is rounded to bf16 on its way into the buffer.
namespace rounded_before_adding {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (evidence.c.precision.storage != Dtype::fp32) return std::nullopt;
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty()) return std::nullopt;
  const auto before = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
  const auto addend = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + parameter);
  if (!before || !addend) return std::nullopt;
  Values sum = *before;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += rounded_to(Dtype::bf16, (*addend)[i]);
  return sum;
}

const RegisterBug registered{{
    .name = "gradient-rounded-before-adding",
    .stages = {"accumulate"},
    .sentence = "every gradient is rounded to bf16 before it is added",
    .formula = "A = A + bf16(s_k)",
    .remedy = "add gradients in fp32, without rounding them to bf16 first",
    .left = left,
}};

}  // namespace rounded_before_adding

// The buffer's additions round toward zero.
namespace truncated_sum {

/// The fp32 number next to the exact sum on the side of zero.
double truncated(double sum) {
  const auto nearest = static_cast<float>(sum);
  const bool over = std::fabs(static_cast<double>(nearest)) > std::fabs(sum);
  return static_cast<double>(over ? std::nextafter(nearest, 0.0f) : nearest);
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  if (parameter.empty()) return std::nullopt;
  const auto before = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.buffer." + parameter);
  const auto addend = evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + parameter);
  if (!before || !addend) return std::nullopt;
  Values sum = *before;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = truncated(sum[i] + (*addend)[i]);
  return sum;
}

const RegisterBug registered{{
    .name = "truncating-accumulator",
    .stages = {"accumulate"},
    .sentence = "additions to the gradient round toward zero, so that the error grows with K",
    .formula = "A = A + s_k, rounded toward zero",
    .remedy = "round to nearest when gradients are added",
    .left = left,
}};

}  // namespace truncated_sum
}  // namespace
}  // namespace tally::buffer_formats_bug

// Parameters without a gradient take no room in the flat buffer.
namespace tally::flat_buffer_shifts_bug {
namespace {

/// All gradients of a micro-batch that are not zero throughout, one behind the other.
Values flat_gradients(const Evidence& evidence, int window, int micro_batch) {
  Values flat;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    const auto gradient = evidence.tap(window, micro_batch, "accumulate", "in.d." + p).value_or(Values{});
    const bool none = std::all_of(gradient.begin(), gradient.end(), [](double g) { return g == 0; });
    if (!none) flat.insert(flat.end(), gradient.begin(), gradient.end());
  }
  return flat;
}

/// Where the parameter lies in a buffer that leaves room for all.
std::size_t offset_of(const Evidence& evidence, int window, int micro_batch, const std::string& parameter) {
  std::size_t offset = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    if (p == parameter) break;
    offset += evidence.tap(window, micro_batch, "accumulate", "in.d." + p).value_or(Values{}).size();
  }
  return offset;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int w = held.name.window, k = held.name.micro_batch;
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  auto sum = evidence.tap(w, k, "accumulate", "in.buffer." + parameter);
  if (parameter.empty() || !sum) return std::nullopt;
  const Values flat = flat_gradients(evidence, w, k);
  const std::size_t offset = offset_of(evidence, w, k, parameter);
  for (std::size_t i = 0; i < sum->size() && offset + i < flat.size(); ++i) (*sum)[i] += flat[offset + i];
  return sum;
}

const RegisterBug registered{{
    .name = "flat-buffer-misaligned",
    .stages = {"accumulate"},
    .sentence = "parameters without a gradient have no room in the flat buffer, so that all later ones shift",
    .formula = "A_i = A_i + s_{i + shift}",
    .remedy = "keep the room of parameters without a gradient in the flat buffer, or leave them out on both sides",
    .left = left,
}};

}  // namespace
}  // namespace tally::flat_buffer_shifts_bug

// The right value, stored in bf16 in between.
namespace tally::rounded_to_bf16_bug {
namespace {

std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  if (held.dtype != Dtype::fp32) return std::nullopt;
  Values rounded = held.expected;
  for (double& v : rounded) v = rounded_to(Dtype::bf16, v);
  return rounded;
}

const RegisterBug registered{{
    .name = "rounded-to-bf16",
    .sentence = "the right value was cast to bf16 on its way",
    .formula = "got = bf16(expected)",
    .remedy = "keep the value in fp32: something casts it to bf16 on its way",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally::rounded_to_bf16_bug

// The right value, stored in fp16 in between.
namespace tally::rounded_to_fp16_bug {
namespace {

std::optional<Values> left(const Evidence&, const HeldTensor& held) {
  if (held.dtype != Dtype::fp32) return std::nullopt;
  Values rounded = held.expected;
  for (double& v : rounded) v = rounded_to(Dtype::fp16, v);
  return rounded;
}

const RegisterBug registered{{
    .name = "rounded-to-fp16",
    .sentence = "the right value was cast to fp16 on its way",
    .formula = "got = fp16(expected)",
    .remedy = "keep the value in fp32: something casts it to fp16 on its way",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally::rounded_to_fp16_bug
