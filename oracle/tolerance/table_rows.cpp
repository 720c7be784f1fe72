#include "oracle/tolerance/table_rows.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "oracle/tolerance/format.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {
namespace {

constexpr const char* operation = "embedding.gradient";

using RowsOf = std::map<std::int64_t, std::vector<Eigen::Index>>;

RowsOf rows_by_index(const Matrix<long double>& index, std::int64_t except) {
  RowsOf rows;
  for (Eigen::Index r = 0; r < index.rows(); ++r)
    if (const std::int64_t at = to_integer(index(r, 0)); at != except) rows[at].push_back(r);
  return rows;
}

BoundedMatrix some_rows(const BoundedMatrix& all, const std::vector<Eigen::Index>& rows) {
  BoundedMatrix some(static_cast<Eigen::Index>(rows.size()), all.cols());
  for (Eigen::Index i = 0; i < some.rows(); ++i)
    for (Eigen::Index j = 0; j < all.cols(); ++j) some.set(i, j, all.at(rows[static_cast<std::size_t>(i)], j));
  return some;
}

}  // namespace

Expected looked_up_rows(const Expected& table, const Matrix<long double>& index) {
  Expected rows{looked_up(table.v, index), looked_up(table.e, index)};
  if (table.s.size() != 0) {
    rows.r = looked_up(table.r, index);
    rows.s = looked_up(table.s, index);
  }
  rows.sharing = table.sharing;
  return rows;
}

Expected table_gradient(const Declared& declared, Matrix<long double> exact, Eigen::Index table_rows,
                        const Matrix<long double>& index, const Expected& dy, std::int64_t except) {
  const KernelClaim& claim = claim_of(declared, operation);
  const BoundedMatrix gradient(declared, dy);
  BoundedMatrix sums(table_rows, gradient.cols());
  sums.v.setZero();
  sums.e.setZero();
  for (const auto& [at, rows] : rows_by_index(index, except)) {
    const BoundedMatrix sum = column_sums(declared, some_rows(gradient, rows), claim);
    for (Eigen::Index j = 0; j < sum.cols(); ++j) sums.set(at, j, sum.at(0, j));
    sums.sharing = std::max(sums.sharing, sum.sharing);
  }
  return joined(declared, std::move(exact), stored(declared, declared.storage, std::move(sums)));
}

Prediction predicted_table_gradient(const Declared& declared, Eigen::Index table_rows, const Tensor& index,
                                    const Matrix<float>& dy, std::int64_t except) {
  if (claim_of(declared, operation).algorithm != "in_order") return {};
  Matrix<float> sums = Matrix<float>::Zero(table_rows, dy.cols());
  for (Eigen::Index r = 0; r < dy.rows(); ++r)
    if (const std::int64_t at = index.integer(static_cast<std::size_t>(r)); at != except) sums.row(at) += dy.row(r);
  return sums.unaryExpr([&](float sum) { return stored(declared.storage, sum); }).eval();
}

}  // namespace tally::oracle
