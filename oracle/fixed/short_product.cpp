#include "oracle/fixed/short_product.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include "oracle/fixed/in_parts.hpp"
#include "oracle/fixed/short_operand.hpp"
#include "oracle/real/product.hpp"

namespace tally::oracle {
namespace fixed {
namespace {

struct Way {
  Route route;
  Schedule schedule;
};

Way& way() {
  thread_local Way chosen{fastest_route(), {}};
  return chosen;
}

/// Line `at` of a matrix as it stands or, `across`, of its transpose: its elements stand `stride` apart.
struct Elements {
  const ShortBall* first;
  Eigen::Index stride;
};

Elements elements_of(const Matrix<ShortBall>& a, Eigen::Index at, bool across) {
  return across ? Elements{a.data() + at, a.cols()} : Elements{a.data() + at * a.cols(), 1};
}

/// Term by term: exact where the bits are enough.
ShortBall dot(Elements x, Elements y, Eigen::Index terms) {
  ShortBall sum = 0;
  for (Eigen::Index k = 0; k < terms; ++k) sum += x.first[k * x.stride] * y.first[k * y.stride];
  return sum;
}

/// Fewer terms than these are summed faster one by one than they are brought to fixed point and back; more than it takes
/// must be.
bool worth_it(Eigen::Index rows, Eigen::Index terms, Eigen::Index columns) {
  return terms > 1 && terms <= most_terms &&
         rows * terms * columns > 4 * (rows * terms + terms * columns + rows * columns);
}

/// op(a) op(b), op transposing where it is said.
Matrix<ShortBall> multiplied(const Matrix<ShortBall>& a, bool transposed_a, const Matrix<ShortBall>& b,
                             bool transposed_b) {
  const Eigen::Index rows = transposed_a ? a.cols() : a.rows(), terms = transposed_a ? a.rows() : a.cols();
  const Eigen::Index columns = transposed_b ? b.rows() : b.cols(), terms_of_b = transposed_b ? b.cols() : b.rows();
  if (terms != terms_of_b)
    throw std::logic_error("matrix product: inner sizes " + std::to_string(terms) + " and " +
                           std::to_string(terms_of_b) + " differ");
  const auto summed = [&](Eigen::Index i, Eigen::Index j) {
    return dot(elements_of(a, i, transposed_a), elements_of(b, j, !transposed_b), terms);
  };
  if (!worth_it(rows, terms, columns)) {
    Matrix<ShortBall> result(rows, columns);
    for (Eigen::Index i = 0; i < rows; ++i)
      for (Eigen::Index j = 0; j < columns; ++j) result(i, j) = summed(i, j);
    return result;
  }
  const auto& [route, schedule] = way();
  const ShortOperand left = short_operand(a, transposed_a, Scaled::by_rows, schedule.threads);
  const ShortOperand right = short_operand(b, transposed_b, Scaled::by_columns, schedule.threads);
  const FixedMatrix found = product(left.matrix, right.matrix, route, schedule);
  Matrix<ShortBall> result = short_balls(found, left, right, schedule.threads);
  // A sum that is 0 or whose terms cancel: maybe exactly, which only the terms can tell.
  in_parts(rows, schedule.threads, [&](Eigen::Index first, Eigen::Index end) {
    for (Eigen::Index i = first; i < end; ++i)
      for (Eigen::Index j = 0; j < columns; ++j)
        if (result(i, j).sign() == ShortBall::open) {
          const ShortBall again = summed(i, j);
          if (again.sign() != ShortBall::open) result(i, j) = again;
        }
  });
  return result;
}

}  // namespace

ProductsScope::ProductsScope(Route route, const Schedule& schedule)
    : route_before_(std::exchange(way().route, route)), schedule_before_(std::exchange(way().schedule, schedule)) {}
ProductsScope::~ProductsScope() { way() = {route_before_, schedule_before_}; }

int threads_of_products() { return way().schedule.threads; }

}  // namespace fixed

template <>
Matrix<ShortBall> product(const Matrix<ShortBall>& a, const Matrix<ShortBall>& b) {
  return fixed::multiplied(a, false, b, false);
}

template <>
Matrix<ShortBall> product_with_transposed(const Matrix<ShortBall>& a, const Matrix<ShortBall>& b) {
  return fixed::multiplied(a, false, b, true);
}

template <>
Matrix<ShortBall> product_of_transposed(const Matrix<ShortBall>& a, const Matrix<ShortBall>& b) {
  return fixed::multiplied(a, true, b, false);
}

template <>
Matrix<ShortBall> column_sums(const Matrix<ShortBall>& a) {
  Matrix<ShortBall> result = Matrix<ShortBall>::Zero(1, a.cols());
  fixed::in_parts(a.cols(), fixed::way().schedule.threads, [&](Eigen::Index first, Eigen::Index end) {
    for (Eigen::Index r = 0; r < a.rows(); ++r)
      for (Eigen::Index c = first; c < end; ++c) result(0, c) += a(r, c);
  });
  return result;
}

}  // namespace tally::oracle
