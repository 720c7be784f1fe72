// What takes memory, and what does not.
#include <gtest/gtest.h>

#include "kernels/training_step/run/run.hpp"
#include "properties/judge/lens.hpp"
#include "tests/allocations/count.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally {
namespace {

TEST(Allocations, AreCounted) {
  EXPECT_EQ(allocations([] { ::operator delete(::operator new(1)); }), 1u);
}

TEST(Allocations, AreNoneWhereATapIsFound) {
  const Trace trace = run(small_case());
  std::vector<std::string> texts;
  for (const Tap& tap : trace.taps()) texts.push_back(tap.name.text());
  std::size_t found = 0;

  const std::size_t by_words = allocations([&] {
    for (const Tap& tap : trace.taps()) found += trace.find(tap.name.view()) == &tap.value;
  });
  const std::size_t by_text = allocations([&] {
    for (const std::string& text : texts) found += trace.find(text) != nullptr;
  });

  EXPECT_EQ(found, 2 * trace.taps().size());
  EXPECT_EQ(by_words, 0u);
  EXPECT_EQ(by_text, 0u);
}

TEST(Allocations, DoNotGrowWithTheChecksThatArePutInOrder) {
  const Case c = small_case();
  const Trace trace = run(c);
  std::vector<TensorCheck> checks = local_lens(c, trace);
  ASSERT_GT(checks.size(), 20u);
  std::swap(checks.front(), checks.back());

  EXPECT_LE(allocations([&] { checks = in_order(trace, std::move(checks)); }),
            4u);  // keys, order, room to sort, checks
}

}  // namespace
}  // namespace tally
