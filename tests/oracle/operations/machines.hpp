// Machines that evaluate operations legally, in float: sums in several orders and groupings, functions with errors within
// their claim. And the data that they are held on.
#pragma once

#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "tests/oracle/operations/calls.hpp"

namespace tally::oracle::operations {

using Floats = std::vector<float>;

inline const Element formats[] = {Element::float32, Element::float16, Element::bfloat16};

inline float rounded_to(Element element, float x) { return static_cast<float>(written(element, x)); }

/// What an operation leaves: numbers of float, stored once.
inline Numbers stored(Element element, const Floats& x) {
  Numbers all;
  for (const float each : x) all.push_back(rounded_to(element, each));
  return all;
}
inline Floats floats(const Numbers& x) { return {x.begin(), x.end()}; }

enum class Order { forwards, backwards, pairwise, lanes, drawn };
inline const Order orders[] = {Order::forwards, Order::backwards, Order::pairwise, Order::lanes, Order::drawn};

inline float added_up(Floats x, Order order, std::mt19937_64& random) {
  if (order == Order::backwards) std::reverse(x.begin(), x.end());
  if (order == Order::drawn) std::shuffle(x.begin(), x.end(), random);
  if (order == Order::lanes) {
    constexpr std::size_t lanes = 8;
    Floats sums(lanes, 0.0f);
    for (std::size_t i = 0; i < x.size(); ++i) sums[i % lanes] += x[i];
    x = sums;
  }
  if (order == Order::pairwise || order == Order::drawn) {
    for (; x.size() > 1; x.resize((x.size() + 1) / 2)) {
      const std::size_t half = (x.size() + 1) / 2;
      for (std::size_t i = 0; i + half < x.size(); ++i) x[i] += x[i + half];
    }
    return x.empty() ? 0 : x[0];
  }
  float sum = 0;
  for (const float each : x) sum += each;
  return sum;
}

/// sum a b: products that round, or are fused with the additions.
inline float dot(const Floats& a, const Floats& b, Order order, std::mt19937_64& random) {
  if (order == Order::lanes) {
    float sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum = std::fma(a[i], b[i], sum);
    return sum;
  }
  Floats products(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) products[i] = a[i] * b[i];
  return added_up(products, order, random);
}

/// A function's value, off by at most one float from the nearest one: within 2 ulp.
inline float function(double exact, std::mt19937_64& random) {
  const auto nearest = static_cast<float>(exact);
  const int off = static_cast<int>(random() % 3) - 1;
  return off == 0 || !std::isfinite(nearest) ? nearest : std::nextafter(nearest, off > 0 ? INFINITY : -INFINITY);
}

enum class Data { normal, far_from_zero, tiny, subnormal, constant, zeros, huge, whole };
inline const Data kinds[] = {Data::normal,   Data::far_from_zero, Data::tiny, Data::subnormal,
                             Data::constant, Data::zeros,         Data::huge, Data::whole};

/// n numbers of a format.
inline Numbers drawn(Data data, std::int64_t n, Element element, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const bool half = element == Element::float16;
  const double tiny = half ? 0x1p-13 : 0x1p-120, subnormal = half ? 0x1p-22 : 0x1p-145, huge = half ? 0x1p7 : 0x1p100;
  const double constant = normal(random);
  Numbers all;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = normal(random);
    const double value = data == Data::normal          ? x
                         : data == Data::far_from_zero ? 1000 + x
                         : data == Data::tiny          ? x * tiny
                         : data == Data::subnormal     ? x * subnormal
                         : data == Data::constant      ? constant
                         : data == Data::zeros         ? 0
                         : data == Data::huge          ? x * huge
                                                       : std::nearbyint(3 * x);
    all.push_back(written(element, value));
  }
  return all;
}
inline Numbers drawn(std::int64_t n, std::mt19937_64& random, Element element = Element::float32) {
  return drawn(Data::normal, n, element, random);
}

}  // namespace tally::oracle::operations
