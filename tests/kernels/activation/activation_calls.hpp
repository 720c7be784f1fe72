// An activation's kernels, called on numbers.
#pragma once

#include <string>
#include <vector>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::activation {

inline std::vector<double> forward(const std::string& kind, const std::vector<double>& x, Dtype storage = Dtype::fp32) {
  const auto n = static_cast<std::int64_t>(x.size());
  const DeviceTensor from = on_device(x, storage), y = room(n, storage);
  call((kind + ".forward").c_str(), ActivationArguments{storage, from.data(), nullptr, y.data(), n});
  return values_of(y);
}

inline std::vector<double> backward(const std::string& kind, const std::vector<double>& x,
                                    const std::vector<double>& dy, Dtype storage = Dtype::fp32) {
  const auto n = static_cast<std::int64_t>(x.size());
  const DeviceTensor from = on_device(x, storage), gradient = on_device(dy, storage), dx = room(n, storage);
  call((kind + ".backward").c_str(), ActivationArguments{storage, from.data(), gradient.data(), dx.data(), n});
  return values_of(dx);
}

}  // namespace tally::activation
