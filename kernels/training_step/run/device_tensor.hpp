// A tensor on the executor's device: a buffer with its format and shape. Rows are slices along the first dimension.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {

class DeviceTensor {
 public:
  Dtype dtype = Dtype::fp32;
  std::vector<std::int64_t> shape;

  /// Nothing: false in a condition, a null address.
  DeviceTensor() = default;
  /// Memory that holds whatever was there before. `name` is for reports of broken guard zones.
  DeviceTensor(Device& on, const std::string& name, Dtype dtype, std::vector<std::int64_t> shape);
  /// A copy of the tensor's bits.
  DeviceTensor(Device& on, const std::string& name, const Tensor& value);

  explicit operator bool() const { return memory_.has_value(); }
  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  /// The address of slice i.
  void* row(std::int64_t i) const { return static_cast<std::byte*>(data_) + static_cast<std::size_t>(i) * row_bytes_; }

  void zero() { fill(0); }
  /// Every byte 0xff: a NaN in every floating-point format.
  void poison() { fill(0xff); }
  /// The same among the stream's work.
  void zero_on(Stream& stream) { fill_on(stream, 0); }
  void poison_on(Stream& stream) { fill_on(stream, 0xff); }
  Tensor read() const;
  /// The only element of a scalar.
  template <class T>
  T scalar() const {
    T value;
    device_->read(data_, &value, sizeof value);
    return value;
  }
  template <class T>
  void set_scalar(T value) {
    device_->write(data_, &value, sizeof value);
  }

 private:
  void fill(int byte);
  void fill_on(Stream& stream, int byte);

  Device* device_ = nullptr;
  std::optional<Buffer> memory_;
  void* data_ = nullptr;
  std::size_t row_bytes_ = 0;
};

}  // namespace tally
