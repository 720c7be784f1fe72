// Work by several threads and by the widest registers, with the same bits.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

// A function marked so is compiled several times, and the widest registers that the processor has do the same
// operations: the same bits.

#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TALLY_WIDE_REGISTERS __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define TALLY_WIDE_REGISTERS
#endif

// Work on neighbours by several threads.
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
