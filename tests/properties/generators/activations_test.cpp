#include "properties/generators/activations.hpp"

#include <gtest/gtest.h>

#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

TEST(Activations, AreTheElementwiseLayersInTheOrderInWhichTheyWereFirstDrawn) {
  std::vector<std::string> families;
  for (const Layer& each : activations()) families.push_back(kernel_family_of(each));
  EXPECT_EQ(families, (std::vector<std::string>{"relu", "tanh", "sigmoid", "gelu_none", "gelu_tanh"}));
}

TEST(Activations, OfAKindAreItsForms) {
  ASSERT_EQ(activations_by_kind().size(), 4u);
  EXPECT_EQ(activations_by_kind()[0].forms.size(), 1u);
  EXPECT_EQ(activations_by_kind()[3].kind, "gelu");
  EXPECT_EQ(activations_by_kind()[3].forms.size(), 2u);
}

}  // namespace
}  // namespace tally
