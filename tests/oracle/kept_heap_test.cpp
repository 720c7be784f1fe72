#include "oracle/kept_heap.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <vector>

namespace tally {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool own_heap = false;
#else
constexpr bool own_heap = true;
#endif

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
  if (!own_heap) GTEST_SKIP() << "the sanitizer's own heap";
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
}  // namespace tally
