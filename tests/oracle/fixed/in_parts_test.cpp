#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "oracle/real/threads.hpp"

namespace tally::oracle::fixed::in_parts_test {
namespace {

TEST(InParts, TakesEveryNumberOnceWhateverTheNumberOfThreads) {
  for (const Eigen::Index count : {0, 1, 2, 7, 64})
    for (const int threads : {0, 1, 2, 3, 100}) {
      std::vector<int> taken(static_cast<std::size_t>(count), 0);
      in_parts(count, threads, [&](Eigen::Index first, Eigen::Index end) {
        for (Eigen::Index i = first; i < end; ++i) ++taken[static_cast<std::size_t>(i)];
      });
      EXPECT_EQ(taken, std::vector<int>(static_cast<std::size_t>(count), 1)) << count << " by " << threads;
    }
}

TEST(InParts, HandsOnWhatTheFirstPartThatThrowsThrows) {
  try {
    in_parts(8, 4, [](Eigen::Index first, Eigen::Index) {
      if (first > 0) throw std::runtime_error(std::to_string(first));
    });
    FAIL();
  } catch (const std::runtime_error& thrown) {
    EXPECT_STREQ(thrown.what(), "2");
  }
}

}  // namespace
}  // namespace tally::oracle::fixed::in_parts_test
