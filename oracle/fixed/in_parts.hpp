// Work on neighbours by several threads.
#pragma once

#include <Eigen/Core>
#include <thread>
#include <vector>

namespace tally::oracle::fixed {

/// f(first, end) over parts of 0 .. count - 1, one a thread.
template <class F>
void in_parts(Eigen::Index count, int threads, F&& f) {
  const Eigen::Index parts = threads < 1 ? 1 : threads;
  std::vector<std::jthread> others;
  for (Eigen::Index t = 1; t < parts; ++t)
    others.emplace_back([&f, count, parts, t] { f(count * t / parts, count * (t + 1) / parts); });
  f(Eigen::Index{0}, count / parts);
}

}  // namespace tally::oracle::fixed
