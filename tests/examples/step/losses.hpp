// The losses of one row of outputs y [n], and their gradients times the factor.
#pragma once

#include <cmath>
#include <cstdint>

inline float squares(const float* y, const float* target, std::int64_t n, float factor, float* gradient) {
  const auto count = static_cast<float>(n);
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const float apart = y[i] - target[i];
    sum += apart * apart;
    gradient[i] = factor * (2 * apart / count);
  }
  return sum / count;
}

inline float cross_entropy(const float* y, std::int64_t target, std::int64_t n, float factor, float* gradient) {
  float largest = y[0], sum = 0;
  for (std::int64_t i = 1; i < n; ++i) largest = std::fmax(largest, y[i]);
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(y[i] - largest);
  for (std::int64_t i = 0; i < n; ++i)
    gradient[i] = factor * (std::exp(y[i] - largest) / sum - (i == target ? 1.0F : 0.0F));
  return std::log(sum) - (y[target] - largest);
}
