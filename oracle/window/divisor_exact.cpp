// n_k is the sum of the item weights of micro-batch k, N the window's, K its number of micro-batches (with
// `mean_of_means_configured` the first window's). The sum of the losses of micro-batch k is multiplied by c_k.
// (divisor.1)  divisor_k = N with `window_items`, K n_k with `mean_of_means`, 1 with `sum`
// (divisor.2)  c_k = scale / divisor_k, or 0 where divisor_k = 0
// The scale is divided out again (scaler_exact.cpp), so that exact gradients have it nowhere: their c_k has scale = 1.
#include "oracle/case/item_weights.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {

template <class T>
T micro_batch_items(const Case& c, std::size_t window, std::size_t micro_batch) {
  const std::int64_t first = first_row(c, window, micro_batch), rows = c.windows[window][micro_batch];
  if (const auto whole = ItemWeights(c).whole_sum(first, rows)) return T(static_cast<double>(*whole));
  T sum = 0;
  for (std::int64_t row = first; row < first + rows; ++row) sum += number<T>(item_weight(c, row));
  return sum;
}

template <class T>
T window_items(const Case& c, std::size_t window) {
  T sum = 0;
  for (std::size_t k = 0; k < c.windows[window].size(); ++k) sum += micro_batch_items<T>(c, window, k);
  return sum;
}

template <class T>
T divisor(const Case& c, std::size_t window, std::size_t micro_batch) {
  const auto batches = [&c](std::size_t w) { return T(static_cast<double>(c.windows[w].size())); };
  switch (c.normalisation) {
    case Normalisation::window_items:
      return window_items<T>(c, window);
    case Normalisation::mean_of_means:
      return batches(window) * micro_batch_items<T>(c, window, micro_batch);
    case Normalisation::mean_of_means_configured:
      return batches(0) * micro_batch_items<T>(c, window, micro_batch);
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
