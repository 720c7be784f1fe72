// Summation: what adding up costs in a claimed order, sums that are added up for real, and addends that are equal or
// nearly so. Defined in summation.cpp, equal_addends.cpp.
#pragma once

#include <optional>
#include <vector>

#include "oracle/layers/claim.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle {

// What adding up costs where a claim says in which order: not only how many additions the deepest addend passes
// through, but how many each does, and how large the partial sums are.

/// The cost of a sum of addends of sizes |x|, every addition rounding by at most u of its result.
struct SumCost {
  double growth = 0;   // sum of ((1 + u)^d - 1) |x|, d the additions that x passes through: bounds the sum's error
  double squares = 0;  // of the sizes of partial sums, those that are made side by side taken together: like addends
                       // have like partial sums, whose roundings may be one
};

/// The cost of any order in which an addend passes through at most `height` additions, of sizes that add up to `size`.
SumCost cost_of(double height, double u, double size);

/// The cost of an order with steps, for the sizes of one sum in the order in which its kernel has them, or of a sum
/// over tensors, in whatever order those come. What the steps leave open (which partial sums a tree pairs, how what is
/// left is added) takes its largest cost.
SumCost cost_of(const OrderOfSum& order, double u, const std::vector<double>& sizes);
SumCost cost_of(const OrderOfSum& order, double u, const std::vector<std::vector<double>>& tensors);

// Sums that are added up for real, in fp32 and in orders that a right kernel may take. The statistical lens assumes
// that the errors of additions are mean-zero; whether this holds of given addends, a few right sums of them show
// (oracle/spread.md, "Right sums of the same addends").

struct TriedOrder {
  OrderOfSum steps;         // what they leave is added one after another
  bool backwards = false;   // from the last addend to the first
  bool as_claimed = false;  // the claim's steps instead, where it has some for one tensor
};

/// One after another, backwards, in pairs, by 32 lanes and by 8 runs of neighbours, and as the claim says.
const std::vector<TriedOrder>& tried_orders();

/// The sums of the columns of [addends, sums], each addition rounded to fp32: [1, sums]. `claimed` are the steps of the
/// claim.
Matrix<float> added(const TriedOrder& order, const OrderOfSum& claimed, Matrix<float> addends);

/// The same of one sum.
double added(const TriedOrder& order, const OrderOfSum& claimed, const std::vector<double>& addends);

/// A [m, k] times B [k, n], onto C [m, n] where that is not empty: products rounded to fp32 and then added.
Matrix<double> multiplied(const TriedOrder& order, const OrderOfSum& claimed, const Matrix<double>& c,
                          const Matrix<double>& a, const Matrix<double>& b);

// Which addends of a sum round alike. The error of adding x to a partial sum S follows from x modulo the ulp of the
// result, because S lies on that grid: equal addends err equally, and so do addends within a small part of an ulp of
// each other. What errs alike may not be counted as drawn anew (oracle/spread.md, "Sums").

/// f(first, past the last) of each run of sorted values within `cell`; of all of them where the cell is not a number.
template <class F>
void each_run(const std::vector<double>& sorted, double cell, F&& f) {
  for (std::size_t first = 0, i = 0; i < sorted.size(); first = i) {
    do ++i;
    while (i < sorted.size() && !(sorted[i] - sorted[first] > cell));
    f(first, i);
  }
}

/// The magnitudes of the finite ones but zeros, which err nothing, sorted.
std::vector<double> sorted_magnitudes(std::vector<double> x);

/// The mean, over the addends, of how many of them lie within `cell` of each other. At least 1.
double alike(std::vector<double> addends, double cell);

/// A quarter of an ulp of a sum of that magnitude.
inline double quarter_ulp(double unit_roundoff, double magnitude) { return unit_roundoff / 2 * magnitude; }

// How much is alike in a matrix that several products read, counted at the first question: a weight is an operand of
// every micro-batch's forward and backward, and counting sorts each of its rows and columns.

/// How many rows hold, in the same column, what a row holds there: the most on average over one row's columns, and the
/// most anywhere.
struct Repetition {
  double mean = 1, most = 1;
};

/// What is alike in one matrix, at one unit roundoff: whoever shares it asks with the same.
struct Similarity {
  std::optional<Eigen::ArrayXd> within_rows, within_columns;
  std::optional<Repetition> in_columns, in_rows;
};

// How much of what the sums of a matrix add up is alike (oracle/tolerance/summation.hpp): within one sum, and across
// sums.

/// How much is alike within each row of x, as one factor of the products that a sum adds up.
Eigen::ArrayXd alike_within_rows(const Matrix<double>& x, double unit_roundoff);

Repetition repeated_in_columns(const Matrix<double>& x, double unit_roundoff);

/// An operand as a product reads it: A by rows, B by columns; counted once where it is kept.
struct ProductOperand {
  const Matrix<double>& v;
  bool columns;                // of B
  Similarity* kept = nullptr;  // of v, or of its transpose
  bool of_transpose = false;

  /// How much is alike within each row of A, or column of B.
  Eigen::ArrayXd alike_within(double unit_roundoff) const;
  /// The repetition of A's rows, or B's columns.
  Repetition repeated(double unit_roundoff) const;
};

/// How many elements of a product A B may err together, because their sums have addends that are alike.
double shared_addends(const ProductOperand& a, const ProductOperand& b, double unit_roundoff);
double shared_addends(const Matrix<double>& a, const Matrix<double>& b, double unit_roundoff);
/// How many of the sums of the columns of x.
double shared_addends_of_columns(const Matrix<double>& x, double unit_roundoff);

}  // namespace tally::oracle
