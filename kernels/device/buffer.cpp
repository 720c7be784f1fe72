#include <utility>

#include "kernels/device/device.hpp"

namespace tally {

Buffer::Buffer(Device& on, std::string name, Dtype dtype, std::size_t elements)
    : device_(&on),
      data_(on.allocate(elements * size_of(dtype), std::move(name))),
      dtype_(dtype),
      elements_(elements) {}

Buffer::~Buffer() { device_->release(data_); }

Buffer::Buffer(Buffer&& other) noexcept
    : device_(other.device_),
      data_(std::exchange(other.data_, nullptr)),
      dtype_(other.dtype_),
      elements_(other.elements_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(dtype_, other.dtype_);
  std::swap(elements_, other.elements_);
  return *this;
}

}  // namespace tally
