#include "oracle/tolerance/ordered_sum.hpp"

#include <array>

#include "oracle/tolerance/rounded.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {
namespace {

constexpr Eigen::Index lanes = 8, shared_rows = 64;

float in_order(const Matrix<float>& x, Eigen::Index column, Eigen::Index first, Eigen::Index stride) {
  float sum = 0;
  for (Eigen::Index row = first; row < x.rows(); row += stride) sum += x(row, column);
  return sum;
}

float by_lanes(const Matrix<float>& x, Eigen::Index column) {
  std::array<float, lanes> sums{};
  for (Eigen::Index lane = 0; lane < lanes; ++lane) {
    sums[static_cast<std::size_t>(lane)] = in_order(x, column, lane, lanes);
  }
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

}  // namespace

std::optional<Matrix<float>> ordered_bias_gradient(const Declared& subject, const Matrix<float>& dy) {
  const std::string& order = claim_of(subject, "linear.bias_gradient").algorithm;
  if (order != "in_order" && order != "column_lanes") return std::nullopt;
  const bool apart = order == "column_lanes" && dy.rows() >= shared_rows;
  Matrix<float> sums(1, dy.cols());
  for (Eigen::Index column = 0; column < dy.cols(); ++column) {
    const float sum = apart ? by_lanes(dy, column) : in_order(dy, column, 0, 1);
    sums(0, column) = static_cast<float>(rounded(subject.storage, static_cast<double>(sum)));
  }
  return sums;
}

}  // namespace tally::oracle
