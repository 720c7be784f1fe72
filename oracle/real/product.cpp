// Matrix products over every scalar.
#include "oracle/real/product.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "oracle/real/ball_view.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle {
namespace {

/// n elements that stand `stride` apart.
template <class T>
struct Line {
  const T* first;
  Eigen::Index stride;
};

/// Writes <a, b>; `term` is room for one product, so that the loop takes no memory.
void dot(Real& sum, Real& term, Line<Real> a, Line<Real> b, Eigen::Index n) {
  mpfr_set_zero(raw(sum), 1);
  for (Eigen::Index i = 0; i < n; ++i) {
    mpfr_mul(raw(term), raw(a.first[i * a.stride]), raw(b.first[i * b.stride]), MPFR_RNDN);
    mpfr_add(raw(sum), raw(sum), raw(term), MPFR_RNDN);
  }
}

void dot(long double& sum, long double&, Line<long double> a, Line<long double> b, Eigen::Index n) {
  sum = 0;
  for (Eigen::Index i = 0; i < n; ++i) sum += a.first[i * a.stride] * b.first[i * b.stride];
}

/// Only long double has another way: nothing for Real, as it may hold any number of digits.
std::optional<Matrix<Real>> fast(const Matrix<Real>&, Side, const Matrix<Real>&, Side) { return std::nullopt; }
std::optional<Matrix<long double>> fast(const Matrix<long double>& a, Side side_a, const Matrix<long double>& b,
                                        Side side_b) {
  return compensated_product(a, side_a, b, side_b);
}

void require_equal(Eigen::Index a, Eigen::Index b) {
  if (a != b)
    throw std::logic_error("matrix product: inner sizes " + std::to_string(a) + " and " + std::to_string(b) +
                           " differ");
}

/// The sums of no addends.
template <class T>
Matrix<T> zeros(Eigen::Index rows, Eigen::Index columns) {
  return Matrix<T>::Constant(rows, columns, T(0));
}

}  // namespace

template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b) {
  require_equal(a.cols(), b.rows());
  if (a.cols() == 0) return zeros<T>(a.rows(), b.cols());
  if (auto done = fast(a, Side::as_it_is, b, Side::as_it_is)) return *std::move(done);
  Matrix<T> result(a.rows(), b.cols());
  T term{};
  for (Eigen::Index i = 0; i < result.rows(); ++i)
    for (Eigen::Index j = 0; j < result.cols(); ++j)
      dot(result(i, j), term, {a.data() + i * a.cols(), 1}, {b.data() + j, b.cols()}, a.cols());
  return result;
}

template <class T>
Matrix<T> product_with_transposed(const Matrix<T>& a, const Matrix<T>& b) {
  require_equal(a.cols(), b.cols());
  if (a.cols() == 0) return zeros<T>(a.rows(), b.rows());
  if (auto done = fast(a, Side::as_it_is, b, Side::transposed)) return *std::move(done);
  Matrix<T> result(a.rows(), b.rows());
  T term{};
  for (Eigen::Index i = 0; i < result.rows(); ++i)
    for (Eigen::Index j = 0; j < result.cols(); ++j)
      dot(result(i, j), term, {a.data() + i * a.cols(), 1}, {b.data() + j * b.cols(), 1}, a.cols());
  return result;
}

template <class T>
Matrix<T> product_of_transposed(const Matrix<T>& a, const Matrix<T>& b) {
  require_equal(a.rows(), b.rows());
  if (a.rows() == 0) return zeros<T>(a.cols(), b.cols());
  if (auto done = fast(a, Side::transposed, b, Side::as_it_is)) return *std::move(done);
  Matrix<T> result(a.cols(), b.cols());
  T term{};
  for (Eigen::Index i = 0; i < result.rows(); ++i)
    for (Eigen::Index j = 0; j < result.cols(); ++j)
      dot(result(i, j), term, {a.data() + i, a.cols()}, {b.data() + j, b.cols()}, a.rows());
  return result;
}

template <class T>
Matrix<T> column_sums(const Matrix<T>& a) {
  Matrix<T> result = Matrix<T>::Zero(1, a.cols());
  for (Eigen::Index r = 0; r < a.rows(); ++r)
    for (Eigen::Index c = 0; c < a.cols(); ++c) result(0, c) += a(r, c);
  return result;
}

template Matrix<Real> product(const Matrix<Real>&, const Matrix<Real>&);
template Matrix<Real> product_with_transposed(const Matrix<Real>&, const Matrix<Real>&);
template Matrix<Real> product_of_transposed(const Matrix<Real>&, const Matrix<Real>&);
template Matrix<Real> column_sums(const Matrix<Real>&);
template Matrix<long double> product(const Matrix<long double>&, const Matrix<long double>&);
template Matrix<long double> product_with_transposed(const Matrix<long double>&, const Matrix<long double>&);
template Matrix<long double> product_of_transposed(const Matrix<long double>&, const Matrix<long double>&);
template Matrix<long double> column_sums(const Matrix<long double>&);
template Matrix<Ball> column_sums(const Matrix<Ball>&);

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
