// What one window's end works on: the summed gradients, parameters and Adam's moments of a transformer on a device, and
// the two fused passes over them as a training step launches them: dynamic loss scale, clip by the global norm,
// decoupled decay, Adam; all fp32.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/window/arguments.hpp"
#include "tests/benchmarks/device_copy.hpp"

namespace tally::benchmarks {

class WindowState {
 public:
  WindowState(Device& on, std::int64_t parameters);

  /// unscale_check_norm: the summed gradients into the unscaled ones, and their norm.
  void read_once();
  /// clip_decay_step: the unscaled gradients, parameters and moments, the latter three in place.
  void step_once();
  /// As many bytes read and written as read_once reads and writes, by the device's own copy.
  void copy_as_read_once();
  /// The same for step_once.
  void copy_as_step_once();
  void synchronize() { stream_.synchronize(); }

  /// Bytes that must cross the memory's bus, reads and writes once each; what stays in caches (flag, norm, one partial
  /// result in 4096 elements) is not counted. One gradient read, one written.
  std::int64_t bytes_of_read_once() const { return 8 * parameters_; }
  /// Gradient, parameter and two moments read; parameter and two moments written.
  std::int64_t bytes_of_step_once() const { return 28 * parameters_; }
  std::size_t tensors() const { return sizes_.size(); }

  /// Empty where the passes left what they should: a norm in its range, no overflow, and at both ends of every tensor
  /// an unscaled gradient and a moment that moved.
  std::string complaint() const;

 private:
  float* data(const Buffer& buffer) const { return static_cast<float*>(buffer.data()); }
  void fill_with_pattern(const Buffer& buffer, float scale);
  void copy(const Buffer& from, const Buffer& to, std::int64_t elements);

  Device* device_;
  Stream stream_;
  std::int64_t parameters_;
  std::vector<std::int64_t> sizes_, places_;
  Buffer summed_, unscaled_, parameter_, exp_avg_, exp_avg_sq_, spare_;
  Buffer inverse_scale_, found_, partial_, norm_, coefficient_;
  std::vector<SummedTensor> summed_tensors_;
  std::vector<SteppedTensor> stepped_tensors_;
  void (*unscale_check_norm_)(Stream&, const UnscaleCheckNormArguments&);
  void (*clip_decay_step_)(Stream&, const ClipDecayStepArguments&);
  void (*copy_)(Stream&, const DeviceCopy&);
};

}  // namespace tally::benchmarks
