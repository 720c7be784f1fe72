// Addends that are equal or nearly so, and round alike.
#include <algorithm>
#include <cmath>

#include "oracle/tolerance/summation.hpp"

namespace tally::oracle {

std::vector<double> sorted_magnitudes(std::vector<double> x) {
  for (double& each : x) each = std::fabs(each);
  std::erase_if(x, [](double each) { return !(each > 0 && std::isfinite(each)); });
  std::sort(x.begin(), x.end());
  return x;
}

double alike(std::vector<double> addends, double cell) {
  const std::vector<double> sorted = sorted_magnitudes(std::move(addends));
  double squares = 0;
  each_run(sorted, cell, [&](std::size_t first, std::size_t last) {
    squares += static_cast<double>(last - first) * static_cast<double>(last - first);
  });
  return sorted.empty() ? 1 : squares / static_cast<double>(sorted.size());
}

namespace {

/// Adds to `held`, row by row, how many values of the column are alike to the row's own.
double count_repeats(const std::vector<double>& column, double cell, Eigen::ArrayXd& held, Eigen::ArrayXd& counted) {
  const std::vector<double> sorted = sorted_magnitudes(column);
  std::vector<double> starts;
  std::vector<std::size_t> sizes;
  std::size_t most = 1;
  each_run(sorted, cell, [&](std::size_t first, std::size_t last) {
    starts.push_back(sorted[first]);
    sizes.push_back(last - first);
    most = std::max(most, last - first);
  });
  for (std::size_t row = 0; row < column.size(); ++row) {
    const double size = std::fabs(column[row]);
    if (!(size > 0 && std::isfinite(size))) continue;
    const auto run = std::upper_bound(starts.begin(), starts.end(), size) - starts.begin() - 1;
    held[static_cast<Eigen::Index>(row)] += static_cast<double>(sizes[static_cast<std::size_t>(run)]);
    counted[static_cast<Eigen::Index>(row)] += 1;
  }
  return static_cast<double>(most);
}

double magnitude(const Matrix<double>& x) { return x.size() == 0 ? 0 : x.cwiseAbs().sum(); }

}  // namespace

Eigen::ArrayXd alike_within_rows(const Matrix<double>& x, double unit_roundoff) {
  Eigen::ArrayXd each(x.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    std::vector<double> row(static_cast<std::size_t>(x.cols()));
    for (Eigen::Index k = 0; k < x.cols(); ++k) row[static_cast<std::size_t>(k)] = x(i, k);
    each[i] = alike(std::move(row), quarter_ulp(unit_roundoff, x.row(i).cwiseAbs().sum()));
  }
  return each;
}

Repetition repeated_in_columns(const Matrix<double>& x, double unit_roundoff) {
  if (x.rows() < 2) return {};
  const double cell = quarter_ulp(unit_roundoff, magnitude(x) / static_cast<double>(x.rows()));
  Eigen::ArrayXd held = Eigen::ArrayXd::Zero(x.rows()), counted = held;
  Repetition found;
  std::vector<double> column(static_cast<std::size_t>(x.rows()));
  for (Eigen::Index k = 0; k < x.cols(); ++k) {
    for (Eigen::Index i = 0; i < x.rows(); ++i) column[static_cast<std::size_t>(i)] = x(i, k);
    found.most = std::max(found.most, count_repeats(column, cell, held, counted));
  }
  found.mean = std::max(1.0, (held / counted.max(1.0)).maxCoeff());
  return found;
}

Eigen::ArrayXd ProductOperand::alike_within(double unit_roundoff) const {
  const auto count = [&] {
    return columns ? alike_within_rows(v.transpose(), unit_roundoff) : alike_within_rows(v, unit_roundoff);
  };
  if (kept == nullptr) return count();
  auto& known = columns == of_transpose ? kept->within_rows : kept->within_columns;
  if (!known) known = count();
  return *known;
}

Repetition ProductOperand::repeated(double unit_roundoff) const {
  const auto count = [&] {
    return columns ? repeated_in_columns(v.transpose(), unit_roundoff) : repeated_in_columns(v, unit_roundoff);
  };
  if (kept == nullptr) return count();
  auto& known = columns == of_transpose ? kept->in_columns : kept->in_rows;
  if (!known) known = count();
  return *known;
}

double shared_addends(const ProductOperand& a, const ProductOperand& b, double unit_roundoff) {
  const Repetition of_a = a.repeated(unit_roundoff), of_b = b.repeated(unit_roundoff);
  return std::min(of_a.mean * of_b.most, of_a.most * of_b.mean);
}

double shared_addends(const Matrix<double>& a, const Matrix<double>& b, double unit_roundoff) {
  return shared_addends(ProductOperand{a, false}, ProductOperand{b, true}, unit_roundoff);
}

double shared_addends_of_columns(const Matrix<double>& x, double unit_roundoff) {
  return repeated_in_columns(x.transpose(), unit_roundoff).mean;
}

}  // namespace tally::oracle
