// Norms as kernels evaluate them: statistics by two passes or by Welford's updates, y taken apart or folded into a scale
// and a shift, gradients in either grouping.
#pragma once

#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations {

struct NormWay {
  Order order = Order::forwards;
  bool welford = false, folds = false, by_function = false;
};

struct NormStatistics {
  float mean, var, rstd;
  NormStatistics(const Floats& x, float eps, const NormWay& way, std::mt19937_64& random) : mean(0), var(0) {
    const auto n = static_cast<float>(x.size());
    if (way.welford) {  // two parts, merged
      float means[2] = {}, squares[2] = {}, counts[2] = {};
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t k = way.order == Order::lanes ? i % 2 : i < x.size() / 3;
        const float delta = x[i] - means[k];
        means[k] += delta / ++counts[k];
        squares[k] += delta * (x[i] - means[k]);
      }
      const float delta = counts[1] > 0 && counts[0] > 0 ? means[1] - means[0] : 0;
      if (counts[0] == 0) means[0] = means[1];
      mean = means[0] + delta * (counts[1] / n);
      var = (squares[0] + squares[1] + delta * delta * (counts[0] * counts[1] / n)) / n;
    } else {
      mean = added_up(x, way.order, random) / n;
      Floats squares;
      for (const float each : x) squares.push_back((each - mean) * (each - mean));
      var = added_up(squares, way.order, random) / n;
    }
    rstd = way.by_function ? function(1 / std::sqrt(static_cast<double>(var + eps)), random) : 1 / std::sqrt(var + eps);
  }
};

/// One element of y.
inline float normed(float x, const NormStatistics& s, float w, float b, const NormWay& way) {
  if (!way.folds) return (x - s.mean) * s.rstd * w + b;
  const float scale = s.rstd * w, shift = b - s.mean * scale;
  return way.order == Order::lanes ? std::fma(x, scale, shift) : x * scale + shift;
}

/// dx of a group.
inline Floats norm_gradient(const Floats& x, const Floats& g, const Floats& w, float mean, float rstd,
                            const NormWay& way, std::mt19937_64& random) {
  const auto n = static_cast<float>(x.size());
  Floats gw, both, out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    gw.push_back(g[i] * w[i]);
    both.push_back(way.folds ? gw[i] * x[i] : gw[i] * ((x[i] - mean) * rstd));
  }
  const float db = added_up(gw, way.order, random), ds = added_up(both, way.order, random), scale = 1 / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (way.folds) {  // a gw + b x + c
      const float b = (db * mean - ds) * rstd * rstd * rstd * scale, c = -b * mean - db * rstd * scale;
      out.push_back(rstd * g[i] * w[i] + b * x[i] + c);
    } else {
      out.push_back(rstd * (gw[i] - db / n - (x[i] - mean) * rstd * (ds / n)));
    }
  }
  return out;
}

inline const NormWay norm_ways[] = {{Order::forwards, false, false, false}, {Order::pairwise, false, true, true},
                                    {Order::lanes, true, true, false},      {Order::drawn, true, false, true},
                                    {Order::backwards, false, false, true}, {Order::lanes, false, true, false}};

}  // namespace tally::oracle::operations
