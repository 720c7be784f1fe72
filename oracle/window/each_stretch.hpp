// A tensor read in parts.
#pragma once

#include <algorithm>

#include "oracle/tolerance/expected.hpp"

namespace tally::oracle {

/// f of a gradient; of one that is only read some rows at a time, which fit a cache.
template <class F>
void each_stretch(const Expected& gradient, F&& f) {
  if (gradient.only_read == nullptr) return f(gradient);
  constexpr Eigen::Index elements_at_once = 1 << 14;
  const Tensor& tensor = *gradient.only_read;
  const Eigen::Index rows = row_count(tensor), columns = static_cast<Eigen::Index>(tensor.elements()) / rows;
  const Eigen::Index at_once = std::max<Eigen::Index>(1, elements_at_once / std::max<Eigen::Index>(1, columns));
  for (Eigen::Index first = 0; first < rows; first += at_once) {
    const Expected next = as_read(tensor, first, std::min(at_once, rows - first));
    f(next);
    mapped_bytes_read(static_cast<std::size_t>(next.v.size()) * sizeof(float));
  }
}

}  // namespace tally::oracle
