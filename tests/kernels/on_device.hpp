// Numbers on the host executor's device and back, and the shipped kernels by operation.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/run/device_tensor.hpp"

namespace tally {

inline Device& host() { return device(ExecutorKind::host); }

template <class Arguments>
void call(const char* operation, const Arguments& arguments, const std::string& variant = "") {
  Stream stream(host());
  kernel<Arguments>(operation, ExecutorKind::host, variant)(stream, arguments);
}

/// The variants of an operation, to instantiate a test over: every kernel but those that a test registered.
inline std::vector<std::string> every_variant(const char* operation) {
  std::vector<std::string> variants = shipped_variants(operation, ExecutorKind::host);
  std::erase_if(variants, [](const std::string& variant) { return variant.starts_with("test_"); });
  return variants;
}

/// A test once for every variant of an operation; its parameter is the variant's name.
class OfEveryVariant : public testing::TestWithParam<std::string> {
 protected:
  const std::string& variant() const { return GetParam(); }
};

inline std::string variant_name(const testing::TestParamInfo<std::string>& info) { return info.param; }

/// A vector of values, rounded to the format.
inline DeviceTensor on_device(const std::vector<double>& values, Dtype dtype = Dtype::fp32) {
  Tensor tensor(dtype, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) tensor.set(i, values[i]);
  return DeviceTensor(host(), "test", tensor);
}

/// Room for n numbers, none of them set.
inline DeviceTensor room(std::int64_t n, Dtype dtype = Dtype::fp32) {
  DeviceTensor tensor(host(), "test", dtype, {n});
  tensor.poison();
  return tensor;
}

inline std::vector<double> values_of(const DeviceTensor& tensor) {
  const Tensor read = tensor.read();
  std::vector<double> values(read.elements());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = read.value(i);
  return values;
}

/// n numbers in [-1, 1) with 24 significant bits, the same at every call.
inline std::vector<double> drawn(std::int64_t n) {
  std::uint64_t state = 11;
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& value : values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = static_cast<double>(static_cast<std::int64_t>(state >> 40) - (1 << 23)) / (1 << 23);
  }
  return values;
}

/// Unit roundoff of fp32.
inline constexpr double u = 0x1p-24;

}  // namespace tally
