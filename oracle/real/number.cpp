#include "oracle/real/number.hpp"

#include <cstdlib>
#include <stdexcept>

#include "oracle/real/ball_view.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw std::logic_error("\"" + text + "\" is not a decimal number");
}

template <class T>
T element(const Tensor& tensor, std::size_t i) {
  const bool whole = tensor.dtype == Dtype::i64 || tensor.dtype == Dtype::u8;
  return whole ? T(tensor.integer(i)) : T(tensor.value(i));
}

template <>
ShortBall element<ShortBall>(const Tensor& tensor, std::size_t i) {
  const bool whole = tensor.dtype == Dtype::i64 || tensor.dtype == Dtype::u8;
  if (whole) return tensor.integer(i);
  const double value = tensor.value(i);
  if (std::isfinite(value)) return value;
  const auto columns =
      tensor.shape.size() < 2 ? tensor.elements() : tensor.elements() / static_cast<std::size_t>(tensor.shape[0]);
  throw Undecided("row " + std::to_string(i / columns) + ", column " + std::to_string(i % columns) +
                  " is not finite; balls of fixed size hold finite numbers only");
}

template <class T>
Matrix<T> lift_block(const Tensor& tensor, std::int64_t skip, std::int64_t rows, std::int64_t columns) {
  Matrix<T> result(rows, columns);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      result(r, c) = element<T>(tensor, static_cast<std::size_t>((skip + r) * columns + c));
  return result;
}

}  // namespace

template <>
Real number<Real>(const Decimal& decimal) {
  Real result;
  if (mpfr_set_str(raw(result), decimal.text.c_str(), 10, MPFR_RNDN) != 0) refuse(decimal.text);
  return result;
}

template <>
long double number<long double>(const Decimal& decimal) {
  char* end = nullptr;
  const long double result = std::strtold(decimal.text.c_str(), &end);
  if (decimal.text.empty() || *end != '\0') refuse(decimal.text);
  return result;
}

template <>
Ball number<Ball>(const Decimal& decimal) {
  Ball result;
  if (arb_set_str(view(result), decimal.text.c_str(), precision()) != 0 || !finite(result)) refuse(decimal.text);
  result.set_non_negative(arb_is_nonnegative(view(result)));
  return result;
}

template <>
ShortBall number<ShortBall>(const Decimal& decimal) {
  const BitsScope bits(192);
  return short_ball(number<Ball>(decimal));
}

template <class T>
Matrix<T> lift(const Tensor& tensor) {
  const auto& shape = tensor.shape;
  if (shape.empty()) return lift_block<T>(tensor, 0, 1, 1);
  if (shape.size() == 1) return lift_block<T>(tensor, 0, 1, shape[0]);
  return lift_block<T>(tensor, 0, shape[0],
                       static_cast<std::int64_t>(tensor.elements()) / std::max<std::int64_t>(shape[0], 1));
}

template <class T>
Matrix<T> lift_rows(const Tensor& tensor, std::int64_t first, std::int64_t rows) {
  if (tensor.shape.size() == 1) return lift_block<T>(tensor, first, rows, 1).transpose();
  return lift_block<T>(tensor, first, rows, tensor.shape.at(1));
}

template Matrix<Real> lift<Real>(const Tensor&);
template Matrix<long double> lift<long double>(const Tensor&);
template Matrix<Ball> lift<Ball>(const Tensor&);
template Matrix<ShortBall> lift<ShortBall>(const Tensor&);
template Matrix<Real> lift_rows<Real>(const Tensor&, std::int64_t, std::int64_t);
template Matrix<long double> lift_rows<long double>(const Tensor&, std::int64_t, std::int64_t);
template Matrix<Ball> lift_rows<Ball>(const Tensor&, std::int64_t, std::int64_t);
template Matrix<ShortBall> lift_rows<ShortBall>(const Tensor&, std::int64_t, std::int64_t);

}  // namespace tally::oracle
