#include <gtest/gtest.h>
#include <sys/resource.h>

#include <vector>

#include "oracle/case/tensors/bytes.hpp"
#include "tests/sanitized.hpp"

namespace tally::kept_heap_test {
namespace {

long faults() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

void fill_and_free() {
  std::vector<std::vector<char>> tensors;
  for (int i = 0; i < 64; ++i) tensors.emplace_back(std::size_t{1} << 17, 'x');
}

TEST(KeptHeap, FaultsEachPageInOnce) {
  if (is_sanitized) GTEST_SKIP() << "the sanitizer's own heap";
#ifdef __GLIBC__
  ASSERT_TRUE(heap_is_kept());
#else
  GTEST_SKIP() << "another library's heap";
#endif
  fill_and_free();
  const long before = faults();

  for (int i = 0; i < 8; ++i) fill_and_free();

  EXPECT_LT(faults() - before, 64);  // of 16384 pages that were written
}

}  // namespace
}  // namespace tally::kept_heap_test
