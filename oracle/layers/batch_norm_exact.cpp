// Of column c over the n rows r of a group that shares its statistics; k runs over the group's rows too. w and b hold
// an element a column, 1 and 0 where the layer is not affine.
// (batch_norm.1)  mean_c = (1/n) sum_r x_rc
// (batch_norm.2)  var_c = (1/n) sum_r (x_rc - mean_c)²
// (batch_norm.3)  rstd_c = 1 / sqrt(var_c + eps)
// (batch_norm.4)  y_rc = h_rc w_c + b_c,  h_rc = (x_rc - mean_c) rstd_c
// (batch_norm.5)  dx_rc = w_c rstd_c (dy_rc - (1/n) sum_k dy_kc - h_rc (1/n) sum_k dy_kc h_kc)
// (batch_norm.6)  dw_c = sum dy_rc h_rc,  db_c = sum dy_rc,  over the rows of all groups
// (batch_norm.7)  dx_rc = w_c rstd_c dy_rc  with frozen statistics, where mean and var are the running values
// The statistics of ranks that put them together stand under the names of pooled_norm.hpp, which has these formulas by
// them.
// The code of (batch_norm.5) is the chain rule through mean and var (standardise.hpp).
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "oracle/layers/pooled_norm.hpp"
#include "oracle/layers/register_exact.hpp"
#include "oracle/layers/standardise.hpp"
#include "oracle/real/number.hpp"

namespace tally::oracle::batch_norm_exact {
namespace {

template <class T>
bool frozen(const Pass<T>& pass) {
  return pass.layer.text("statistics") == "frozen";
}

/// Neighbouring rows.
struct Stretch {
  Eigen::Index first, rows;
};
/// Rows that share statistics, wherever they stand.
using Group = std::vector<Stretch>;

Eigen::Index rows_of(const Group& group) {
  Eigen::Index all = 0;
  for (const Stretch& each : group) all += each.rows;
  return all;
}

/// Of a cut the parts, or, where several of them are one micro-step's, the micro-steps; else all rows as one.
template <class T>
std::vector<Group> groups_of(const Pass<T>& pass, Eigen::Index rows) {
  const std::string& statistics = pass.layer.text("statistics");
  const bool steps = statistics == "micro_step" && !pass.steps.empty();
  if (statistics != "micro_batch" && statistics != "micro_step") return {{{0, rows}}};
  std::vector<Group> groups;
  Eigen::Index first = 0;
  for (std::size_t part = 0; part < pass.cut.size(); ++part) {
    const std::size_t group = steps ? pass.steps.at(part) : part;
    groups.resize(std::max(groups.size(), group + 1));
    groups[group].push_back({first, pass.cut[part]});
    first += pass.cut[part];
  }
  if (first != rows)
    throw std::logic_error("batch_norm: the cut holds " + std::to_string(first) + " rows, x " + std::to_string(rows));
  return groups;
}

template <class T>
Matrix<T> taken(const Matrix<T>& x, const Group& group, Eigen::Index c) {
  if (group.size() == 1) return x.block(group.front().first, c, group.front().rows, 1);
  Matrix<T> column(rows_of(group), 1);
  Eigen::Index row = 0;
  for (const Stretch& each : group) {
    column.block(row, 0, each.rows, 1) = x.block(each.first, c, each.rows, 1);
    row += each.rows;
  }
  return column;
}

template <class T>
void put(const Matrix<T>& column, const Group& group, Eigen::Index c, Matrix<T>& y) {
  Eigen::Index row = 0;
  for (const Stretch& each : group) {
    y.block(each.first, c, each.rows, 1) = column.block(row, 0, each.rows, 1);
    row += each.rows;
  }
}

/// Column c of one group, and how it is standardised.
template <class T>
struct Column {
  Matrix<T> x;
  ExactMoments<T> moments;
};

template <class T>
Column<T> column_of(const Pass<T>& pass, const Matrix<T>& x, const Group& group, Eigen::Index c) {
  Column<T> column{taken(x, group, c), {}};
  column.moments = frozen(pass) ? ExactMoments<T>{pass.tensors.at("running_mean")(c), pass.tensors.at("running_var")(c)}
                                : moments(column.x);
  return column;
}

template <class T>
Matrix<T> d_column(const Pass<T>& pass, const Column<T>& column, const T& eps, const Matrix<T>& d_xhat) {
  if (!frozen(pass)) return standardised_gradient(column.x, column.moments, eps, d_xhat);
  return d_xhat / sqrt(T(column.moments.var + eps));
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  const T eps = number<T>(pass.layer.number("eps"));
  const bool affine = pass.layer.flag("affine");
  if (is_pooled(pass)) return pooled_forward(pass, x);
  const std::vector<Group> groups = groups_of(pass, x.rows());
  const auto group_count = frozen(pass) ? 0 : static_cast<Eigen::Index>(groups.size());
  ForwardResult<T> result{Matrix<T>(x.rows(), x.cols()), Matrix<T>(group_count, x.cols()),
                          Matrix<T>(group_count, x.cols())};
  Eigen::Index g = 0;
  for (const Group& group : groups) {
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      const Column<T> column = column_of(pass, x, group, c);
      Matrix<T> y = standardised(column.x, column.moments, eps);
      if (affine) {
        const T weight = pass.tensors.at("weight")(c), bias = pass.tensors.at("bias")(c);
        y = y.unaryExpr([&](const T& xhat) -> T { return xhat * weight + bias; }).eval();
      }
      put(y, group, c, result.y);
      if (frozen(pass)) continue;
      result.mean(g, c) = column.moments.mean;
      result.var(g, c) = column.moments.var;
    }
    ++g;
  }
  if (frozen(pass)) result.mean = result.var = Matrix<T>();
  return result;
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  if (is_pooled(pass)) return pooled_backward(pass, x, dy);
  const T eps = number<T>(pass.layer.number("eps"));
  const bool affine = pass.layer.flag("affine");
  BackwardResult<T> result{Matrix<T>(x.rows(), x.cols()), {}};
  Matrix<T> d_weight = Matrix<T>::Zero(1, x.cols());
  for (const Group& group : groups_of(pass, x.rows())) {
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      const Column<T> column = column_of(pass, x, group, c);
      Matrix<T> d_xhat = taken(dy, group, c);
      if (affine) {
        d_weight(c) += d_xhat.cwiseProduct(standardised(column.x, column.moments, eps)).sum();
        d_xhat *= pass.tensors.at("weight")(c);
      }
      put(d_column(pass, column, eps, d_xhat), group, c, result.dx);
    }
  }
  if (!affine) return result;
  result.parameters["weight"] = d_weight;
  result.parameters["bias"] = dy.colwise().sum();
  return result;
}

const RegisterExactLayer registered("batch_norm", []<class T>(Scalar<T>) -> ExactLayer<T> {
  return {forward<T>, backward<T>};
});

}  // namespace
}  // namespace tally::oracle::batch_norm_exact
