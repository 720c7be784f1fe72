// Work on neighbours by several threads.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace tally::oracle::fixed {

/// f(first, end) over parts of 0 .. count - 1, one a thread. What a part throws is thrown when all are done, the first
/// part's first.
template <class F>
void in_parts(Eigen::Index count, int threads, F&& f) {
  const Eigen::Index parts = std::clamp<Eigen::Index>(threads, 1, std::max<Eigen::Index>(count, 1));
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(parts));
  const auto work = [&](Eigen::Index part) {
    try {
      f(count * part / parts, count * (part + 1) / parts);
    } catch (...) {
      thrown[static_cast<std::size_t>(part)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (Eigen::Index part = 1; part < parts; ++part) others.emplace_back(work, part);
    work(0);
  }
  for (const std::exception_ptr& each : thrown)
    if (each) std::rethrow_exception(each);
}

}  // namespace tally::oracle::fixed
