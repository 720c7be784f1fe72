// Sums of products: what matrix products and convolutions are made of. Defined in products.cpp.
#pragma once

#include "oracle/operations/rule.hpp"

namespace tally::oracle::operations {

/// Row `row` of one factor of a batch, `k` numbers long.
using RowOf = std::function<void(std::int64_t batch, std::int64_t row, double* out)>;

/// result[batch, i, j] = beta c[batch, i, j] + alpha sum_p a[batch, i, p] b[batch, j, p], both factors by
/// rows.
struct SumOfProducts {
  std::int64_t batches = 1, m = 0, n = 0, k = 0;
  RowOf a, b;
  bool exact_products = false;  // of operands of 16 bits, in fp32
  std::optional<View> c = {};   // [batches, m, n], broadcast
  double alpha = 1, beta = 1;
  double addends = 0;  // at most so many of the k are no zeros of a padding; 0: k
};

/// |found - v| <= kappa (|alpha| sum |a||b| + |beta c|) + k 2^-126, stored once: kappa = gam of the additions that an
/// addend passes through in any order, of its product's rounding where it has one, and of c's. `found` has m n batches
/// elements in row-major order. Products of integers so small that every partial sum is exact cost nothing.
Demand sum_of_products(const Call& call, const Profile& profile, const std::string& output, const View& found,
                       SumOfProducts products);

// Rows of a product, added up side by side.

/// sums[j] += x row[j], sizes[j] += |x row[j]|.
void add_scaled(double x, const double* row, std::int64_t n, double* sums, double* sizes);
/// sums[j] += x |row[j]|, x >= 0.
void add_sizes(double x, const double* row, std::int64_t n, double* sums);

/// A matrix [batches, rows, columns] by its rows.
RowOf rows_of(const View& matrix);

/// A sum of addends (oracle/tolerance/bounded.hpp) over `count` numbers in any order, with its spread.
struct Summed {
  Bounded sum;
  /// Of independent roundings: u sqrt(n / 3) times the size of partial sums, which is that of addends of random signs, or
  /// what they come to one after another where their signs are not random.
  double deviation;
};
/// How many times larger it is where addends round alike (oracle/tolerance/summation.hpp): equal ones err equally, and
/// sums of constants lean. Asked only of errors beyond the deviation.
double together(std::vector<double> addends, double u, double magnitude);
/// `values` as read; `more` roundings that each addend has had beside the additions.
Summed summed(const Arithmetic& a, const double* values, std::int64_t count, double more = 0);

}  // namespace tally::oracle::operations
