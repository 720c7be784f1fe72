// Elements of a tensor on the device changed from the host, the place where that is done, drawn from the case, and the
// fault with a knob: a weight gradient times 1 + theta.
#include "properties/faults/planted_change.hpp"

#include <bit>
#include <utility>

#include "properties/faults/fault.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {

void change(Device& on, void* address, Dtype dtype, std::int64_t elements, const Change& each) {
  Tensor value(dtype, {elements});
  on.read(address, value.bytes.data(), value.bytes.size());
  for (std::size_t i = 0; i < value.elements(); ++i) {
    const double held = value.value(i), now = each(i, held);
    const bool same = std::bit_cast<std::uint64_t>(held) == std::bit_cast<std::uint64_t>(now);
    if (!same) value.set(i, now);
  }
  on.write(address, value.bytes.data(), value.bytes.size());
}

void change(Run& run, void* address, Dtype dtype, std::int64_t elements, const Change& each) {
  run.stream.synchronize();
  change(run.device, address, dtype, elements, each);
}

void change(Run& run, const DeviceTensor& tensor, const Change& each) {
  change(run, tensor.data(), tensor.dtype, static_cast<std::int64_t>(elements_of(tensor.shape)), each);
}

void fade(Run& run, DeviceTensor& tensor) {
  if (magnitude() == 1) return tensor.zero();
  change(run, tensor, [](std::size_t, double value) { return blend(value, 0.0); });
}

Tensor read(Run& run, const void* address, Dtype dtype, std::vector<std::int64_t> shape) {
  run.stream.synchronize();
  Tensor value(dtype, std::move(shape));
  run.device.read(address, value.bytes.data(), value.bytes.size());
  return value;
}

std::size_t drawn(const Run& run, std::string_view word, std::size_t count) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3u; };
  for (const char letter : word) mix(static_cast<unsigned char>(letter));
  for (const std::byte byte : run.c.tensors.at(input_tensor(run.c.model)).bytes)
    mix(std::to_integer<unsigned char>(byte));
  return static_cast<std::size_t>((hash >> 17) % count);
}

Parameter& drawn_parameter(Run& run) {
  if (run.parameters.empty()) throw NotSupported("a rank keeps no piece of a parameter, which the fault would change");
  return run.parameters[drawn(run, "parameter", run.parameters.size())];
}

namespace {

double planted_factor = 1;

/// On the host, whatever the executor: what is measured is the lenses, not this.
void scaled_gemm(Run& run, const GemmCall& call, const GemmOrder& order) {
  if (!call.transpose_a) return stage::gemm(run, call, order);  // only dW = dy^T x transposes its first operand
  DeviceTensor product(run.device, "product", Dtype::fp32, {call.m, call.n});
  GemmCall unscaled = call;
  unscaled.result = Dtype::fp32;
  unscaled.c = product.data();
  stage::gemm(run, unscaled, order);
  run.stream.synchronize();
  const Tensor value = product.read();
  Tensor scaled(call.operands, value.shape);
  for (std::size_t i = 0; i < value.elements(); ++i) scaled.set(i, planted_factor * value.value(i));
  run.device.write(call.c, scaled.bytes.data(), scaled.bytes.size());
}

}  // namespace

const Stages& with_scaled_weight_gradients(double theta) {
  planted_factor = 1 + theta;
  return with_gemm<scaled_gemm>();
}

}  // namespace tally
