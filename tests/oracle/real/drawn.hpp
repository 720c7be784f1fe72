// Small dyadic numbers, none of them zero, the same on every machine.
#pragma once

#include <cstdint>

#include "oracle/real/number.hpp"

namespace tally::oracle {

/// Elements k / 256 with 1 <= |k| <= 512: exact in every scalar and every storage format but bf16.
inline Matrix<double> drawn(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  Matrix<double> result(rows, columns);
  std::uint64_t state = seed * 2 + 1;
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto size = static_cast<double>((state >> 33) % 512 + 1) / 256;
    result(i) = (state >> 63) != 0 ? size : -size;
  }
  return result;
}

}  // namespace tally::oracle
