// One formula for every element of several tensors of the same shape.
#pragma once

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

template <class F, class... More>
BoundedMatrix each(F&& f, const Expected& first, const More&... more) {
  BoundedMatrix out(first.v.rows(), first.v.cols());
  const auto read = [](const Expected& x, Eigen::Index i) {
    const auto v = static_cast<double>(x.v.data()[i]);
    if (x.s.size() == 0) return Bounded{v, incoming(x.e.data()[i])};
    return Bounded{v, incoming(x.e.data()[i]), x.r.data()[i], x.s.data()[i]};
  };
  for (Eigen::Index i = 0; i < out.v.size(); ++i) {
    out.set(i, f(read(first, i), read(more, i)...));
  }
  return out;
}

inline Bounded bounded_scalar(const Expected& x) { return {static_cast<double>(x.v(0, 0)), incoming(x.e(0, 0))}; }

}  // namespace tally::oracle
