#include "properties/generators/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "properties/generators/plan.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/laws/settings/together.hpp"

namespace tally::settings_test {
namespace {

std::size_t place_of(const std::string& name) {
  const auto found = std::ranges::find(settings(), name, &CaseSetting::name);
  EXPECT_NE(found, settings().end()) << name;
  return static_cast<std::size_t>(found - settings().begin());
}

Plan drawn(std::uint64_t seed) {
  Plan plan = random_plan(Dtype::fp32)(rc::Random(seed), rc::kNominalSize).value();
  plan.seed = seed;
  return plan;
}

TEST(Settings, AreKindsWordsAndValuesByTheContracts) {
  for (const char* name : {"layer rms_norm", "loss mse", "optimizer adam", "clip global_norm, norm = inf",
                           "normalisation, sum", "ranks, sharding = parameters", "layer linear, trainable = false"})
    place_of(name);
}

TEST(Settings, MakePairsWhereACaseCanHaveBoth) {
  EXPECT_TRUE(make_a_pair(place_of("layer rms_norm"), place_of("ranks, sharding = parameters")));
  EXPECT_FALSE(make_a_pair(place_of("optimizer adam"), place_of("optimizer sgd")));
  EXPECT_FALSE(make_a_pair(place_of("layer linear"), place_of("layer linear, bias = false")));
}

/// In a plan of some sort; what no plan takes would never be drawn.
TEST(Settings, AreEachPutToSomePlan) {
  ASSERT_FALSE(settings().empty());
  for (std::size_t setting = 0; setting < settings().size(); ++setting) {
    bool said = false;
    for (std::uint64_t seed = 1; seed <= 40 && !said; ++seed) {
      Plan plan = drawn(seed);
      put_together(plan, setting, std::vector<std::size_t>{});
      EXPECT_EQ(broken_rule(plan), std::nullopt);
      said = settings_of(case_frame(plan)).contains(setting);
    }
    EXPECT_TRUE(said) << settings()[setting].name;
  }
}

TEST(Settings, OfOnePlanAreKeptApartByNoRule) {
  std::size_t asked = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Plan plan = drawn(seed);
    put_together(plan, seed);
    const std::set<std::size_t> said = settings_of(case_frame(plan));
    const std::vector<std::size_t> places(said.begin(), said.end());
    for (std::size_t i = 0; i + 3 < places.size(); i += 3)
      if (const std::size_t other = places[i + 1 + (seed + i) % 3]; make_a_pair(places[i], other)) {
        EXPECT_EQ(why_never_together(places[i], other), std::nullopt)
            << settings()[places[i]].name << " beside " << settings()[other].name;
        ++asked;
      }
  }
  EXPECT_GT(asked, 0u);
}

TEST(Settings, ArePutToNoPlanWithoutALayer) {
  Plan plan = drawn(1);
  plan.tokens = {};
  plan.hidden.clear();
  plan.has_head = false;
  plan.execution.recompute = plan.recomputes_some = true;
  EXPECT_TRUE(broken_rule(plan).has_value());
}

TEST(Settings, OfAPairStandInThePlanOfItsNumber) {
  const std::size_t a = place_of("ranks, sharding = parameters"), b = place_of("layer rms_norm");
  std::set<std::set<std::size_t>> all;
  for (std::uint64_t round = 0; round < 3; ++round) {
    Plan plan = drawn(number_of_pair(a, b, round));
    put_together(plan, plan.seed);
    const std::set<std::size_t> said = settings_of(case_frame(plan));
    EXPECT_TRUE(said.contains(a) && said.contains(b)) << round;
    all.insert(said);
  }
  EXPECT_EQ(all.size(), 3u);
}

TEST(Settings, ThatExcludeEachOtherAreKeptApartByARuleInWords) {
  const auto rule =
      why_never_together(place_of("ranks, communicate = running_total"), place_of("ranks, sharding = optimizer"));
  ASSERT_TRUE(rule);
  EXPECT_NE(rule->find("expected"), std::string::npos) << *rule;
}

}  // namespace
}  // namespace tally::settings_test
