// Operands for the products: what floats, long numbers and cancellation make hard.
#pragma once

#include <cfloat>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "oracle/fixed_point/product.hpp"

namespace tally::oracle::fixed {

struct Pair {
  std::string name;
  FixedMatrix left, right;
};

inline std::vector<Route> routes() {
  std::vector<Route> result = {Route::exact, Route::blas};
  if (available(Route::ifma)) result.push_back(Route::ifma);
  return result;
}

class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : random_(seed) {}

  /// Numbers of either sign with all bits in use, spread over 2^-places .. 2^places.
  Matrix<double> spread(Eigen::Index rows, Eigen::Index columns, int places) {
    Matrix<double> result(rows, columns);
    std::uniform_real_distribution<double> one(-1, 1);
    std::uniform_int_distribution<int> exponent(-places, places);
    for (Eigen::Index i = 0; i < result.size(); ++i) result.data()[i] = std::ldexp(one(random_), exponent(random_));
    return result;
  }

  /// The same matrix with every limb below the highest drawn anew: no number is short.
  FixedMatrix lengthened(FixedMatrix matrix) {
    for (int l = 0; l + 1 < matrix.limbs; ++l)
      for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.plane(l)[i] = random_() & limb_mask;
    return matrix;
  }

 private:
  std::mt19937_64 random_;
};

inline Pair scaled(std::string name, const Matrix<double>& left, const Matrix<double>& right, int limbs) {
  return {std::move(name), fixed_point(left, limbs, Scaled::by_rows), fixed_point(right, limbs, Scaled::by_columns)};
}

inline Matrix<double> hilbert(Eigen::Index n) {
  return Matrix<double>::NullaryExpr(n, n, [](Eigen::Index i, Eigen::Index j) { return 1 / double(i + j + 1); });
}

/// [x, x] and [y; -y]: every exact sum is 0.
inline Pair cancelling(const FixedMatrix& x, const FixedMatrix& y) {
  Pair result{"cancelling", FixedMatrix(x.rows, 2 * x.columns, x.limbs), FixedMatrix(2 * y.rows, y.columns, y.limbs)};
  result.left.row_exponent = x.row_exponent;
  result.right.column_exponent = y.column_exponent;
  for (int l = 0; l < x.limbs; ++l) {
    for (Eigen::Index i = 0; i < x.rows; ++i)
      for (Eigen::Index k = 0; k < 2 * x.columns; ++k)
        result.left.plane(l)[i * 2 * x.columns + k] = x.plane(l)[i * x.columns + k % x.columns];
    std::copy(y.plane(l), y.plane(l) + y.size(), result.right.plane(l));
    // The complement, X -> 2^52L - 1 - X, is -A - 1; one more makes it -A.
    for (Eigen::Index i = 0; i < y.size(); ++i) result.right.plane(l)[y.size() + i] = y.plane(l)[i] ^ limb_mask;
  }
  for (Eigen::Index i = 0; i < y.size(); ++i) ++result.right.plane(0)[y.size() + i];  // lengthened: no carry
  return result;
}

/// -2^h or 2^h - 1 throughout.
inline FixedMatrix extreme(Eigen::Index rows, Eigen::Index columns, int limbs, bool negative) {
  FixedMatrix result(rows, columns, limbs);
  std::fill(result.digits.begin(), result.digits.end(), negative ? 0 : limb_mask);
  return result;
}

inline Matrix<double> subnormal(Eigen::Index rows, Eigen::Index columns) {
  return Matrix<double>::NullaryExpr(rows, columns, [](Eigen::Index i, Eigen::Index j) {
    return static_cast<double>(FLT_TRUE_MIN) * double(3 * i + j + 1) * ((i + j) % 2 == 0 ? 1 : -1);
  });
}

inline std::vector<Pair> all_pairs(int limbs) {
  Drawn drawn(11);
  std::vector<Pair> pairs;
  const auto add = [&](const std::string& name, const Matrix<double>& a, const Matrix<double>& b) {
    pairs.push_back(scaled(name, a, b, limbs));
    pairs.push_back({name + ", long", drawn.lengthened(pairs.back().left), drawn.lengthened(pairs.back().right)});
  };
  for (const auto& [m, n, p] : {std::tuple{1, 1, 1},
                                {1, 0, 3},
                                {0, 4, 2},
                                {3, 2, 0},
                                {1, 37, 1},
                                {19, 1, 23},
                                {1, 40, 17},
                                {21, 40, 1},
                                {16, 16, 16},
                                {29, 67, 43}})
    add(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(p), drawn.spread(m, n, 0),
        drawn.spread(n, p, 0));
  add("spread", drawn.spread(13, 33, 20), drawn.spread(33, 18, 20));
  add("hilbert", hilbert(24), hilbert(24));
  add("subnormal", subnormal(9, 12), subnormal(12, 10));
  add("largest", Matrix<double>::Constant(5, 30, FLT_MAX), Matrix<double>::Constant(30, 11, -FLT_MAX));
  add("largest doubles", Matrix<double>::Constant(5, 30, DBL_MAX), Matrix<double>::Constant(30, 11, -DBL_MAX));
  add("zeros", Matrix<double>::Zero(6, 9), drawn.spread(9, 7, 3));
  add("many terms", drawn.spread(3, 700, 2), drawn.spread(700, 9, 2));
  for (const bool left : {false, true})
    for (const bool right : {false, true})
      pairs.push_back({"extreme", extreme(5, 1500, limbs, left), extreme(1500, 4, limbs, right)});
  pairs.push_back(
      cancelling(drawn.lengthened(FixedMatrix(12, 25, limbs)), drawn.lengthened(FixedMatrix(25, 14, limbs))));
  return pairs;
}

}  // namespace tally::oracle::fixed
