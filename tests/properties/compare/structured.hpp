// Data of ordinary structures, and sums of them as correct kernels leave them: what the statistical lens must not
// accuse.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "oracle/real/number.hpp"

namespace tally::structured {

using Floats = oracle::Matrix<float>;

enum class Structure { normal, unit_interval, zero_one, one_hot, sixteenths, constant, nearly_constant, two_values };
inline constexpr Structure structures[] = {Structure::normal,          Structure::unit_interval, Structure::zero_one,
                                           Structure::one_hot,         Structure::sixteenths,    Structure::constant,
                                           Structure::nearly_constant, Structure::two_values};

inline std::string name_of(Structure structure) {
  static const char* names[] = {"N(0, 1)", "[0, 1]",   "{0, 1}",          "one-hot",
                                "k / 16",  "constant", "nearly constant", "two values"};
  return names[static_cast<int>(structure)];
}

inline Floats drawn(Structure structure, Eigen::Index rows, Eigen::Index columns, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> unit(0, 1);
  Floats x = Floats::Zero(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    if (structure == Structure::one_hot) {
      x(i, static_cast<Eigen::Index>(random() % static_cast<std::uint64_t>(columns))) = 1;
      continue;
    }
    for (Eigen::Index j = 0; j < columns; ++j) {
      switch (structure) {
        case Structure::normal:
          x(i, j) = normal(random);
          break;
        case Structure::unit_interval:
          x(i, j) = unit(random);
          break;
        case Structure::zero_one:
          x(i, j) = static_cast<float>(random() % 2);
          break;
        case Structure::sixteenths:
          x(i, j) = static_cast<float>(random() % 17) / 16;
          break;
        case Structure::constant:
          x(i, j) = 0.1F;
          break;
        case Structure::nearly_constant:  // the probabilities of a network that has not learnt yet
          x(i, j) = 0.1F * (1 + 1e-4F * normal(random));
          break;
        default:  // p - [c = t] where all p are equal, the rows sorted by class
          x(i, j) = 0.1F - (i * columns / rows == j ? 1.0F : 0.0F);
      }
    }
  }
  return x;
}

enum class Order { serial, lanes, tree };
inline constexpr Order orders[] = {Order::serial, Order::lanes, Order::tree};

/// The fp32 sum of f(0) ... f(n - 1), rounded after every addition.
template <class F>
float sum_of(Eigen::Index n, Order order, F&& f) {
  if (order == Order::serial) {
    float sum = 0;
    for (Eigen::Index k = 0; k < n; ++k) sum += f(k);
    return sum;
  }
  std::vector<float> parts(static_cast<std::size_t>(order == Order::lanes ? std::min<Eigen::Index>(8, n) : n));
  for (Eigen::Index k = 0; k < n; ++k) parts[static_cast<std::size_t>(k) % parts.size()] += f(k);
  for (std::size_t left = parts.size(); left > 1; left = (left + 1) / 2) {
    for (std::size_t i = 0; i + (left + 1) / 2 < left; ++i) parts[i] += parts[i + (left + 1) / 2];
  }
  return parts[0];
}

/// A B, each product rounded before it is added, or fused with its addition.
inline Floats product(const Floats& a, const Floats& b, Order order, bool fused) {
  Floats z(a.rows(), b.cols());
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    for (Eigen::Index j = 0; j < z.cols(); ++j) {
      if (!fused) {
        z(i, j) = sum_of(a.cols(), order, [&](Eigen::Index k) { return a(i, k) * b(k, j); });
        continue;
      }
      float sum = 0;
      for (Eigen::Index k = 0; k < a.cols(); ++k) sum = std::fma(a(i, k), b(k, j), sum);
      z(i, j) = sum;
    }
  }
  return z;
}

}  // namespace tally::structured
