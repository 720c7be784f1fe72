// The three products of a linear layer, each sum from its first term to its last; and the gradient of ReLU.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

struct Sizes {
  std::int64_t rows, in, out;
};

/// x [rows, in] times the transposed weight [out, in].
inline std::vector<float> product(const std::vector<float>& x, const std::vector<float>& weight, Sizes n) {
  std::vector<float> y(static_cast<std::size_t>(n.rows * n.out));
  for (std::int64_t r = 0; r < n.rows; ++r)
    for (std::int64_t o = 0; o < n.out; ++o) {
      float sum = 0;
      for (std::int64_t i = 0; i < n.in; ++i) sum = std::fma(x[r * n.in + i], weight[o * n.in + i], sum);
      y[r * n.out + o] = sum;
    }
  return y;
}

/// dy [rows, out], transposed, times x [rows, in].
inline std::vector<float> weight_gradient(const std::vector<float>& dy, const std::vector<float>& x, Sizes n) {
  std::vector<float> gradient(static_cast<std::size_t>(n.out * n.in));
  for (std::int64_t o = 0; o < n.out; ++o)
    for (std::int64_t i = 0; i < n.in; ++i) {
      float sum = 0;
      for (std::int64_t r = 0; r < n.rows; ++r) sum = std::fma(dy[r * n.out + o], x[r * n.in + i], sum);
      gradient[o * n.in + i] = sum;
    }
  return gradient;
}

/// dy [rows, out] times the weight [out, in].
inline std::vector<float> input_gradient(const std::vector<float>& dy, const std::vector<float>& weight, Sizes n) {
  std::vector<float> dx(static_cast<std::size_t>(n.rows * n.in));
  for (std::int64_t r = 0; r < n.rows; ++r)
    for (std::int64_t i = 0; i < n.in; ++i) {
      float sum = 0;
      for (std::int64_t o = 0; o < n.out; ++o) sum = std::fma(dy[r * n.out + o], weight[o * n.in + i], sum);
      dx[r * n.in + i] = sum;
    }
  return dx;
}

/// 0 where x is not above 0; a NaN stays one.
inline std::vector<float> relu_gradient(const std::vector<float>& dy, const std::vector<float>& x) {
  std::vector<float> dx(dy.size());
  for (std::size_t i = 0; i < dy.size(); ++i) dx[i] = x[i] > 0 ? dy[i] : x[i] != x[i] ? x[i] : 0;
  return dx;
}
