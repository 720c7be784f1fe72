#include "kernels/training_step/device_tensor.hpp"

#include <utility>

namespace tally {

DeviceTensor::DeviceTensor(Device& on, const std::string& name, Dtype format, std::vector<std::int64_t> dimensions)
    : dtype(format), shape(std::move(dimensions)), device_(&on) {
  const std::size_t elements = elements_of(shape);
  memory_.emplace(on, name, dtype, elements);
  data_ = memory_->data();
  if (!shape.empty() && shape[0] > 0) row_bytes_ = size_of(dtype) * (elements / static_cast<std::size_t>(shape[0]));
}

DeviceTensor::DeviceTensor(Device& on, const std::string& name, const Tensor& value)
    : DeviceTensor(on, name, value.dtype, value.shape) {
  device_->write(data_, value.bytes.data(), value.bytes.size());
}

Tensor DeviceTensor::read() const {
  Tensor value(dtype, shape);
  device_->read(data_, value.bytes.data(), value.bytes.size());
  return value;
}

void DeviceTensor::fill_on(Stream& stream, int byte) {
  if (data_ != nullptr) stream.fill(data_, byte, size_of(dtype) * elements_of(shape));
}

void DeviceTensor::fill(int byte) {
  if (data_ != nullptr) device_->fill(data_, byte, size_of(dtype) * elements_of(shape));
}

}  // namespace tally
