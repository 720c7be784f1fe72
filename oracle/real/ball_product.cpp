#include <algorithm>
#include <stdexcept>
#include <vector>

#include "oracle/real/ball_view.hpp"
#include "oracle/real/product.hpp"

namespace tally::oracle {
namespace {

/// Elements side by side as the library wants them: copies of its words, which own nothing.
class Lines {
 public:
  Lines(const Matrix<Ball>& a, bool columns) : length_(columns ? a.rows() : a.cols()) {
    words_.reserve(static_cast<std::size_t>(a.size()));
    for (Eigen::Index line = 0; line < (columns ? a.cols() : a.rows()); ++line)
      for (Eigen::Index i = 0; i < length_; ++i) {
        const Ball& element = columns ? a(i, line) : a(line, i);
        finite_ = finite_ && finite(element);
        words_.push_back(*view(element));
      }
  }
  arb_srcptr line(Eigen::Index i) const { return words_.data() + i * length_; }
  Eigen::Index length() const { return length_; }
  bool finite_throughout() const { return finite_; }

 private:
  Eigen::Index length_;
  bool finite_ = true;
  std::vector<arb_struct> words_;
};

/// Line i of a times line j of b, element by element, where an infinity or NaN is among them.
template <class A, class B>
Matrix<Ball> one_by_one(Eigen::Index rows, Eigen::Index columns, Eigen::Index inner, A&& a, B&& b) {
  Matrix<Ball> result(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < columns; ++j)
      for (Eigen::Index k = 0; k < inner; ++k) result(i, j) += a(i, k) * b(k, j);
  return result;
}

Matrix<Ball> multiplied(const Matrix<Ball>& a, bool columns_of_a, const Matrix<Ball>& b, bool columns_of_b) {
  const Lines left(a, columns_of_a), right(b, columns_of_b);
  if (left.length() != right.length())
    throw std::logic_error("matrix product: inner sizes " + std::to_string(left.length()) + " and " +
                           std::to_string(right.length()) + " differ");
  const Eigen::Index rows = columns_of_a ? a.cols() : a.rows(), columns = columns_of_b ? b.cols() : b.rows();
  if (!left.finite_throughout() || !right.finite_throughout()) {
    return one_by_one(
        rows, columns, left.length(),
        [&](Eigen::Index i, Eigen::Index k) -> const Ball& { return columns_of_a ? a(k, i) : a(i, k); },
        [&](Eigen::Index k, Eigen::Index j) -> const Ball& { return columns_of_b ? b(k, j) : b(j, k); });
  }
  Matrix<Ball> result(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < columns; ++j) {
      arb_dot(view(result(i, j)), nullptr, 0, left.line(i), 1, right.line(j), 1, left.length(), precision());
      result(i, j).set_non_negative(arb_is_nonnegative(view(result(i, j))));
    }
  return result;
}

}  // namespace

template <>
Matrix<Ball> product(const Matrix<Ball>& a, const Matrix<Ball>& b) {
  return multiplied(a, false, b, true);
}

template <>
Matrix<Ball> product_with_transposed(const Matrix<Ball>& a, const Matrix<Ball>& b) {
  return multiplied(a, false, b, false);
}

template <>
Matrix<Ball> product_of_transposed(const Matrix<Ball>& a, const Matrix<Ball>& b) {
  return multiplied(a, true, b, true);
}

}  // namespace tally::oracle
