#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/case/contract.hpp"
#include "properties/generators/drawn_options.hpp"

namespace tally::activations_test {
namespace {

TEST(Activations, AreTheElementwiseLayersInTheOrderInWhichTheyWereFirstDrawn) {
  std::vector<std::string> families;
  for (const Layer& each : activations()) families.push_back(kernel_family_of(each));
  const std::vector<std::string> first{"relu", "tanh", "sigmoid", "gelu_none", "gelu_tanh"};
  ASSERT_GE(families.size(), first.size());
  EXPECT_TRUE(std::equal(first.begin(), first.end(), families.begin()));
  EXPECT_TRUE(std::is_sorted(families.begin() + static_cast<std::ptrdiff_t>(first.size()), families.end()));
}

TEST(Activations, OfAKindAreItsForms) {
  ASSERT_GE(activations_by_kind().size(), 4u);
  EXPECT_EQ(activations_by_kind()[0].forms.size(), 1u);
  EXPECT_EQ(activations_by_kind()[3].kind, "gelu");
  EXPECT_EQ(activations_by_kind()[3].forms.size(), 2u);
}

}  // namespace
}  // namespace tally::activations_test
