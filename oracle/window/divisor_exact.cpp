// n_k is the sum of the item weights of micro-batch k, N the window's, K its number of micro-batches (with
// `mean_of_means_configured` the first window's). The sum of the losses of micro-batch k is multiplied by c_k. N is the
// sum over all ranks that train together, K and n = sum of n_k are those of the rank that has micro-batch k, and R is
// the number of ranks that have a micro-batch in this window, 1 where there is one rank.
// (divisor.1)  divisor_k = N with `window_items`, R K n_k with `mean_of_means`, R n with `rank_means`, 1 with `sum`
// (divisor.2)  c_k = scale / divisor_k, or 0 where divisor_k = 0
// The scale is divided out again (scaler_exact.cpp), so that exact gradients have it nowhere: their c_k has scale = 1.
#include <numeric>

#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/real/functions.hpp"

namespace tally::oracle {

template <class T>
T micro_batch_items(const Case& c, std::size_t window, std::size_t micro_batch) {
  const std::int64_t first = first_row(c, window, micro_batch), rows = c.windows[window][micro_batch];
  if (const auto whole = ItemWeights(c).whole_sum(first, rows)) return T(static_cast<double>(*whole));
  T sum = 0;
  for (std::int64_t row = first; row < first + rows; ++row) sum += number<T>(item_weight(c, row));
  return sum;
}

namespace {

/// The items of the micro-batches [first, first + count).
template <class T>
T items_of(const Case& c, std::size_t window, std::size_t first, std::size_t count) {
  T sum = 0;
  for (std::size_t k = first; k < first + count; ++k) sum += micro_batch_items<T>(c, window, k);
  return sum;
}

template <class T>
T counted(std::size_t n) {
  return T(static_cast<double>(n));
}

}  // namespace

template <class T>
T window_items(const Case& c, std::size_t window) {
  const Case& whole = whole_of(c);
  const auto& sizes = whole.windows[window];
  const std::int64_t rows = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (const auto all = ItemWeights(whole).whole_sum(first_row(whole, window), rows))
    return T(static_cast<double>(*all));
  return items_of<T>(whole, window, 0, sizes.size());
}

template <class T>
T divisor(const Case& c, std::size_t window, std::size_t micro_batch) {
  const std::size_t rank = c.dealt.empty() ? 0 : rank_with(c, window, micro_batch);
  const std::size_t batches = micro_batches_of(c, window, rank), ranks = busy_ranks_of(whole_of(c), window);
  switch (c.normalisation) {
    case Normalisation::window_items:
      return window_items<T>(c, window);
    case Normalisation::mean_of_means:
      return counted<T>(ranks * batches) * micro_batch_items<T>(c, window, micro_batch);
    case Normalisation::mean_of_means_configured:
      return counted<T>(c.windows[0].size()) * micro_batch_items<T>(c, window, micro_batch);
    case Normalisation::rank_means:
      return counted<T>(ranks) * items_of<T>(c, window, first_micro_batch_of(c, window, rank), batches);
    case Normalisation::sum:
      return T(1);
  }
  throw std::logic_error("divisor: a normalisation without a rule");
}

template Real micro_batch_items<Real>(const Case&, std::size_t, std::size_t);
template long double micro_batch_items<long double>(const Case&, std::size_t, std::size_t);
template Real window_items<Real>(const Case&, std::size_t);
template long double window_items<long double>(const Case&, std::size_t);
template Ball window_items<Ball>(const Case&, std::size_t);
template ShortBall window_items<ShortBall>(const Case&, std::size_t);
template Real divisor<Real>(const Case&, std::size_t, std::size_t);
template long double divisor<long double>(const Case&, std::size_t, std::size_t);
template Ball divisor<Ball>(const Case&, std::size_t, std::size_t);
template ShortBall divisor<ShortBall>(const Case&, std::size_t, std::size_t);

}  // namespace tally::oracle
