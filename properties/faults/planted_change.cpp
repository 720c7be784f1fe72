#include "properties/faults/planted_change.hpp"

#include <utility>

namespace tally {

void change(Device& on, void* address, Dtype dtype, std::int64_t elements, const Change& each) {
  Tensor value(dtype, {elements});
  on.read(address, value.bytes.data(), value.bytes.size());
  for (std::size_t i = 0; i < value.elements(); ++i) value.set(i, each(i, value.value(i)));
  on.write(address, value.bytes.data(), value.bytes.size());
}

void change(Run& run, void* address, Dtype dtype, std::int64_t elements, const Change& each) {
  run.stream.synchronize();
  change(run.device, address, dtype, elements, each);
}

void change(Run& run, const DeviceTensor& tensor, const Change& each) {
  change(run, tensor.data(), tensor.dtype, static_cast<std::int64_t>(elements_of(tensor.shape)), each);
}

Tensor read(Run& run, const void* address, Dtype dtype, std::vector<std::int64_t> shape) {
  run.stream.synchronize();
  Tensor value(dtype, std::move(shape));
  run.device.read(address, value.bytes.data(), value.bytes.size());
  return value;
}

}  // namespace tally
