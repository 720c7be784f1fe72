// Parts of one large piece of work on the cores that are idle, taken in order: what comes of them is the same for any
// number of threads.
#pragma once

#include <algorithm>
#include <deque>
#include <future>
#include <utility>

#include "oracle/tolerance/with_spread.hpp"

namespace tally {

/// How many threads one case may use; 1 unless set. A campaign uses the other cores for other cases.
int threads_of_a_case();
void set_threads_of_a_case(int threads);

/// Calls take(make(i)) for i = 0, 1, … below n, until take says false: `take` here and in order, `make` on several
/// threads ahead of it. True where it never said so. `make` sees what this thread asks of the rules of spread alone
/// (oracle/tolerance/with_spread.hpp), no other scope.
template <class Make, class Take>
bool taken_in_order(std::size_t n, int threads, const Make& make, Take&& take) {
  const oracle::Spread asked = oracle::spread_in_force;
  const auto apart = [&make, asked](std::size_t i) {
    const oracle::SpreadScope scope(asked);
    return make(i);
  };
  const std::size_t at_once = static_cast<std::size_t>(std::max(1, threads));
  using Made = decltype(make(std::size_t{0}));
  for (std::size_t first = 0; first < n; first += at_once) {
    const std::size_t last = std::min(n, first + at_once);
    std::deque<std::future<Made>> others;
    for (std::size_t i = first + 1; i < last; ++i) others.push_back(std::async(std::launch::async, apart, i));
    if (!take(make(first))) return false;
    for (std::future<Made>& other : others)
      if (!take(other.get())) return false;
  }
  return true;
}

}  // namespace tally
