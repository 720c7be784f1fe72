#include "oracle/window/window_rows.hpp"

#include <numeric>

#include "oracle/case/item_weights.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sequences.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle {
namespace {

template <class T>
T reciprocal(const T& divisor) {
  return divisor == 0 ? T(0) : T(1 / divisor);
}

template <class T>
Matrix<T> row_factors(const Case& c, std::size_t window, Branch branch, const WindowRows<T>& rows) {
  if (branch == Branch::full_batch) return Matrix<T>::Constant(1, rows.count, reciprocal(rows.items));
  Matrix<T> factors(1, rows.count);
  Eigen::Index next = 0;
  for (std::size_t k = 0; k < c.windows[window].size(); ++k) {
    const T factor = reciprocal(divisor<T>(c, window, k));
    for (std::int64_t i = 0; i < c.windows[window][k]; ++i) factors(next++) = factor;
  }
  return factors;
}

}  // namespace

template <class T>
WindowRows<T> window_rows(const Case& c, std::size_t window, Branch branch) {
  WindowRows<T> rows;
  const auto& sizes = c.windows.at(window);
  rows.first = first_row(c, window);
  rows.count = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  rows.cut = branch == Branch::full_batch ? Cut{rows.count} : sizes;
  for (std::size_t k = 0; k < sizes.size() && branch == Branch::accumulated && !c.dealt.empty(); ++k)
    rows.steps.push_back(k - first_micro_batch_of(c, window, rank_with(c, window, k)));
  const auto lifted = [&](const char* name) {
    return naming(name, [&] { return lift_rows<T>(c.tensors.at(name), rows.first, rows.count); });
  };
  rows.x = lifted(input_tensor(c.model));
  if (c.model.tokens) rows.x = rows.x.transpose().eval();
  rows.target = naming("target", [&] { return lift_rows<T>(*ScoredTarget(c), rows.first, rows.count); });
  if (reads_positions(c.model)) rows.positions = lift_rows<T>(positions_of(c), rows.first, rows.count).transpose();
  if (reads_sequences(c.model)) rows.places = lift_rows<T>(places_of(c), rows.first, rows.count);
  rows.items = window_items<T>(c, window);
  rows.item_weight.resize(1, rows.count);
  const ItemWeights weights(c);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const auto whole = weights.whole(rows.first + i);
    rows.item_weight(i) = whole ? T(static_cast<double>(*whole)) : number<T>(item_weight(c, rows.first + i));
  }
  rows.row_factor = row_factors(c, window, branch, rows);
  return rows;
}

template WindowRows<Real> window_rows(const Case&, std::size_t, Branch);
template WindowRows<long double> window_rows(const Case&, std::size_t, Branch);
template WindowRows<Ball> window_rows(const Case&, std::size_t, Branch);
template WindowRows<ShortBall> window_rows(const Case&, std::size_t, Branch);

}  // namespace tally::oracle
