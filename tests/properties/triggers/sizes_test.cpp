#include "oracle/case/sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "properties/generators/drawn_options.hpp"

namespace tally::sizes_test {
namespace {

std::vector<std::int64_t> none(const Case&) { return {}; }

TEST(DeclaredSizes, OfTheProgramContradictNothing) {
  for (const std::string& found : contradictions(declared_sizes(), size_edges())) ADD_FAILURE() << found;
  EXPECT_GE(declared_sizes().size(), 5u);
}

TEST(DeclaredSizes, ThatContradictAreNamedWithBothPlaces) {
  const std::vector<DeclaredSize> sizes{{.name = "ranks", .least = 1, .most = 8, .in = none, .declared_at = "a.cpp:1"},
                                        {.name = "ranks", .least = 0, .most = 9, .in = none, .declared_at = "b.cpp:2"}};
  const std::vector<SizeEdge> edges{{"ranks", 4, "half", "", "c.cpp:3"},
                                    {"ranks", 9, "more", "", "d.cpp:4"},
                                    {"rows", 1, "one", "", "e.cpp:5"},
                                    {"ranks", 2, "two", "reduce.colour", "f.cpp:6"}};

  EXPECT_EQ(contradictions(sizes, edges),
            (std::vector<std::string>{
                "b.cpp:2: 'ranks', a size that a.cpp:1 declares, too; one of them has to go",
                "d.cpp:4: an edge of 'ranks' at 9, which no legal value reaches: at least 1, at most 8 by a.cpp:1",
                "e.cpp:5: an edge of 'rows' at 1, a size that no file declares; Register<DeclaredSize> declares one",
                "f.cpp:6: an edge of 'ranks' at 2 beside 'reduce.colour', which is no key of execution.ranks"}));
}

TEST(DeclaredSizes, AreDrawnBelowAtAndAboveEveryEdge) {
  ASSERT_FALSE(declared_sizes().empty());
  for (const DeclaredSize& size : declared_sizes()) {
    const std::vector<std::int64_t> wanted = values_around_edges(size.name);
    executor::Schedule random(7);
    std::set<std::int64_t> drawn;
    for (int i = 0; i < 1000; ++i) drawn.insert(drawn_size(size.name, random, size.most));
    for (const std::int64_t value : wanted) EXPECT_TRUE(drawn.contains(value)) << size.name << " = " << value;
    EXPECT_GE(*drawn.begin(), size.least) << size.name;
  }
}

TEST(DeclaredSizes, AreDrawnNoLargerThanAskedFor) {
  executor::Schedule random(3);
  for (int i = 0; i < 200; ++i) {
    const std::int64_t keys = drawn_size("keys of a sequence", random, 9, 2);
    EXPECT_TRUE(keys >= 2 && keys <= 9) << keys;
  }
  EXPECT_THROW(drawn_size("toes of a foot", random, 9), std::logic_error);
}

TEST(DeclaredSizes, HaveTheEdgesOfABlockOfKeys) {
  const auto values = values_around_edges("keys of a sliding window");
  for (const std::int64_t value : {1, 2, 3, 15, 16, 17}) EXPECT_TRUE(std::ranges::count(values, value)) << value;
}

}  // namespace
}  // namespace tally::sizes_test
