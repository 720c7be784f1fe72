// Suspects of accumulate: how a sum is rounded and read.
#include <cmath>

#include "properties/diagnosis/suspect.hpp"

namespace tally::buffer_formats_suspect {
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

const RegisterSuspect registered{{
    .name = "bf16-accumulator",
    .faults = {"bf16-accumulator"},
    .stages = {"accumulate"},
    .sentence = "the sum over micro-batches is rounded to bf16 after every addition",
    .formula = "A = bf16(A + s_k)",
    .remedy =
        "keep the gradients that add up in fp32: fp32 parameters under autocast, or fp32 buffers beside bf16 ones",
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

const RegisterSuspect registered{{
    .name = "low-precision-accumulator",
    .faults = {"low-precision-accumulator"},
    .stages = {"accumulate"},
    .sentence = "the sum over micro-batches is rounded to fp16 after every addition",
    .formula = "A = fp16(A + s_k)",
    .remedy =
        "keep the gradients that add up in fp32: fp32 parameters under autocast, or fp32 buffers beside fp16 ones",
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

const RegisterSuspect registered{{
    .name = "cast-missing-in-add",
    .faults = {"cast-missing-in-add"},
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

const RegisterSuspect registered{{
    .name = "gradient-rounded-before-adding",
    .faults = {"gradient-rounded-before-adding"},
    .stages = {"accumulate"},
    .sentence = "every gradient is rounded to bf16 before it is added",
    .formula = "A = A + bf16(s_k)",
    .remedy = "add gradients in fp32: round none of them to bf16 before",
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

const RegisterSuspect registered{{
    .name = "truncating-accumulator",
    .faults = {"truncating-accumulator"},
    .stages = {"accumulate"},
    .sentence = "the buffer's additions round toward zero, so that the error grows with K",
    .formula = "A = A + s_k, rounded toward zero",
    .remedy = "round to nearest where gradients are added",
    .left = left,
}};

}  // namespace truncated_sum

}  // namespace
}  // namespace tally::buffer_formats_suspect
