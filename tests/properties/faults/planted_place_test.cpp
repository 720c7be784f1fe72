#include <gtest/gtest.h>

#include <set>

#include "kernels/training_step/stages.hpp"
#include "properties/faults/planted_change.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::planted_place_test {
namespace {

TEST(PlantedPlace, IsTheSameInEveryRunOfACaseAndAnotherInAnother) {
  std::set<std::size_t> places;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const Case c = mlp(seed);
    const tally::Run first(c, {}, shipped_stages()), second(c, {}, shipped_stages());
    const std::size_t place = drawn(first, "window", 100);
    EXPECT_EQ(place, drawn(second, "window", 100));
    EXPECT_LT(place, 100u);
    places.insert(place);
  }
  EXPECT_GT(places.size(), 1u);
}

TEST(PlantedPlace, DiffersByTheWordItIsDrawnFor) {
  const Case c = mlp(1);
  const tally::Run run(c, {}, shipped_stages());
  EXPECT_NE(drawn(run, "window", std::size_t{1} << 40), drawn(run, "micro_batch", std::size_t{1} << 40));
}

}  // namespace
}  // namespace tally::planted_place_test
