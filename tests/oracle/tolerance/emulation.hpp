// A subject made of host floats: kernels/arithmetic.md operation by operation, sums in random orders, functions with
// random errors within their claim. Fixed seeds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/tolerance/expected.hpp"
#include "oracle/tolerance/format.hpp"

namespace tally::oracle::emulation {

class Subject {
 public:
  Subject(Dtype storage, unsigned seed) : storage_(storage), random_(seed) {}

  float store(float x) const { return static_cast<float>(rounded(format_of(storage_), x)); }

  /// A function's value, off by at most one float from the nearest: within 2 ulp.
  float function(double exact) {
    const auto nearest = static_cast<float>(exact);
    const int off = static_cast<int>(random_() % 3) - 1;
    return off == 0 ? nearest : std::nextafter(nearest, off > 0 ? INFINITY : -INFINITY);
  }

  /// A sum along a random tree.
  float sum(std::vector<float> terms) {
    if (terms.empty()) return 0;
    while (terms.size() > 1) {
      const bool serial = random_() % 2 == 0;
      const std::size_t a = serial ? 0 : random_() % terms.size();
      std::swap(terms[a], terms.back());
      const float moved = terms.back();
      terms.pop_back();
      const std::size_t b = serial ? 0 : random_() % terms.size();
      terms[b] = terms[b] + moved;
    }
    return terms[0];
  }

  float dot(const std::vector<float>& a, const std::vector<float>& b) {
    if (random_() % 2 == 0) {  // fused, in order
      float total = 0;
      for (std::size_t i = 0; i < a.size(); ++i) total = std::fma(a[i], b[i], total);
      return total;
    }
    std::vector<float> products;
    for (std::size_t i = 0; i < a.size(); ++i) products.push_back(a[i] * b[i]);
    return sum(products);
  }

  /// Normal values around `centre`, as bits of the storage format.
  Matrix<float> values(Eigen::Index rows, Eigen::Index columns, double spread = 1, double centre = 0) {
    std::normal_distribution<double> normal(centre, spread);
    Matrix<float> drawn(rows, columns);
    for (Eigen::Index i = 0; i < drawn.size(); ++i) drawn.data()[i] = store(static_cast<float>(normal(random_)));
    return drawn;
  }

  Precision precision() const {
    Precision p;
    p.storage = storage_;
    return p;
  }
  std::mt19937_64& random() { return random_; }

 private:
  Dtype storage_;
  std::mt19937_64 random_;
};

inline Expected exactly(const Matrix<float>& x) {
  return {x.cast<long double>(), Matrix<double>::Zero(x.rows(), x.cols())};
}

/// Errors over bounds, gathered over many evaluations.
struct Worst {
  double ratio = 0;
  std::uint64_t over = 0, elements = 0;

  void hold(const Expected& expected, const Matrix<float>& got) {
    ASSERT_EQ(expected.v.size(), got.size());
    for (Eigen::Index i = 0; i < got.size(); ++i) {
      const auto error = static_cast<double>(std::fabs(got.data()[i] - expected.v.data()[i]));
      const double e = expected.e.data()[i];
      ++elements;
      if (!(error <= e)) ++over;
      if (error > 0) ratio = std::max(ratio, error / e);
    }
  }
  /// No violation, and the bound is no empty one.
  void expect_sound(const std::string& what) const {
    EXPECT_EQ(over, 0u) << what << ": worst error / bound " << ratio;
    EXPECT_GT(ratio, 0.0) << what;
    EXPECT_LT(ratio, 1.0 + 1.0 / 1024) << what;
    testing::Test::RecordProperty(what, std::to_string(ratio));
    std::printf("  %-36s worst error / bound %.4f over %llu elements\n", what.c_str(), ratio,
                static_cast<unsigned long long>(elements));
  }
};

inline const Dtype storages[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

}  // namespace tally::oracle::emulation
