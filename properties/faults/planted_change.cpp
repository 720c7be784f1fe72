#include "properties/faults/planted_change.hpp"

#include <bit>
#include <utility>

#include "properties/faults/magnitude.hpp"

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

}  // namespace tally
