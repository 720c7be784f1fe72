#include "properties/faults/fault_names.hpp"

#include <gtest/gtest.h>

#include "properties/faults/fault.hpp"
#include "properties/laws/law.hpp"

namespace tally::fault_names_test {
namespace {

TEST(FaultNames, AreThoseThatTheFaultsRegister) {
  const auto all = faults();

  ASSERT_EQ(fault_names().size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(fault_names()[i].name, all[i]->name);
    EXPECT_EQ(fault_names()[i].bug, all[i]->bug.empty() ? all[i]->name : all[i]->bug);
    EXPECT_EQ(fault_names()[i].laws, all[i]->laws) << all[i]->name;
  }
}

TEST(FaultNames, NameEveryLaw) {
  std::vector<std::string> all;
  for (const Law* law : laws()) all.push_back(law->name);

  EXPECT_EQ(broken_laws(), all);
}

TEST(FaultNames, TellWhichPlantABug) {
  const std::vector<std::string> last_only{"overwrite-not-add", "shard-reset-at-every-boundary",
                                           "zero-grad-inside-loop"};
  EXPECT_EQ(faults_planting("last-only"), last_only);
  EXPECT_EQ(faults_planting("over-k"), std::vector<std::string>{});
  EXPECT_EQ(faults_planting("mean-of-means"), std::vector<std::string>{"mean-of-means"});
}

TEST(FaultNames, TellAFaultFromAnotherWord) {
  EXPECT_TRUE(is_fault("mean-of-means"));
  EXPECT_FALSE(is_fault("mean-of-mean"));
  EXPECT_FALSE(is_fault(""));
}

}  // namespace
}  // namespace tally::fault_names_test
