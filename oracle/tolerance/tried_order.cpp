#include "oracle/tolerance/tried_order.hpp"

#include <algorithm>

namespace tally::oracle {
namespace {

constinit thread_local const TriedOrder* order_in_force = nullptr;

using Rows = Matrix<float>;

/// `left` rows of at most `count` rows each: row i begins with row i * apart and goes on in strides.
Rows folded(const Rows& rows, Eigen::Index left, Eigen::Index stride, Eigen::Index apart, Eigen::Index count) {
  Rows sums(left, rows.cols());
  for (Eigen::Index i = 0; i < left; ++i) {
    Eigen::Index next = i * apart;
    sums.row(i) = rows.row(next);
    for (Eigen::Index n = 1; n < count && (next += stride) < rows.rows(); ++n) sums.row(i) += rows.row(next);
  }
  return sums;
}

/// Halves onto each other until one row is left.
Rows in_pairs(Rows rows) {
  while (rows.rows() > 1) {
    const Eigen::Index left = (rows.rows() + 1) / 2;
    rows = folded(rows, left, left, 1, 2);
  }
  return rows;
}

bool is_of_one_tensor(const OrderOfSum& steps) {
  return !steps.empty() && std::ranges::none_of(steps, [](const SumStep& step) { return step.kind == SumStep::meet; });
}

}  // namespace

const std::vector<TriedOrder>& tried_orders() {
  static const std::vector<TriedOrder> orders = {
      {{}},
      {{}, true},
      {{{SumStep::tree}}},
      {{{SumStep::lanes, 32}, {SumStep::tree}}},
      {{{SumStep::runs, 8}, {SumStep::tree}}},
      {{}, false, true},
  };
  return orders;
}

const TriedOrder* tried_order() { return order_in_force; }

TriedOrderScope::TriedOrderScope(const TriedOrder& order) : before_(order_in_force) { order_in_force = &order; }
TriedOrderScope::~TriedOrderScope() { order_in_force = before_; }

Matrix<float> added(const TriedOrder& order, const OrderOfSum& claimed, Matrix<float> addends) {
  Rows rows = order.backwards ? Rows(addends.colwise().reverse()) : std::move(addends);
  const OrderOfSum& steps = order.as_claimed && is_of_one_tensor(claimed) ? claimed : order.steps;
  for (const SumStep& step : steps) {
    const Eigen::Index number = step.number, n = rows.rows();
    if (n < 2) break;
    if (step.kind == SumStep::in_order_below && n < number) rows = folded(rows, 1, 1, 0, n);
    if (step.kind == SumStep::runs) rows = folded(rows, (n + number - 1) / number, 1, number, number);
    if (step.kind == SumStep::lanes) {
      rows = folded(rows, std::min(n, number), number, 1, (n + number - 1) / number);
    }
    if (step.kind == SumStep::tree) rows = in_pairs(std::move(rows));
  }
  if (rows.rows() == 0) return Rows::Zero(1, rows.cols());
  return folded(rows, 1, 1, 0, rows.rows());
}

double added(const TriedOrder& order, const OrderOfSum& claimed, const std::vector<double>& addends) {
  Rows rows(static_cast<Eigen::Index>(addends.size()), 1);
  for (std::size_t i = 0; i < addends.size(); ++i) {
    rows(static_cast<Eigen::Index>(i), 0) = static_cast<float>(addends[i]);
  }
  return added(order, claimed, std::move(rows))(0, 0);
}

Matrix<double> multiplied(const TriedOrder& order, const OrderOfSum& claimed, const Matrix<double>& c,
                          const Matrix<double>& a, const Matrix<double>& b) {
  const bool onto = c.size() != 0;
  const Eigen::Index k = a.cols();
  const Rows left = a.cast<float>(), right = b.cast<float>();
  Matrix<double> product(a.rows(), b.cols());
  Rows addends(k + (onto ? 1 : 0), b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index n = 0; n < k; ++n) addends.row(n) = left(i, n) * right.row(n);
    if (onto) addends.row(k) = c.row(i).cast<float>();
    product.row(i) = added(order, claimed, addends).cast<double>();
  }
  return product;
}

}  // namespace tally::oracle
