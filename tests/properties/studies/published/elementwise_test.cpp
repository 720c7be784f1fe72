// The rules that judge element by element, at the borders of their definitions.
#include "properties/lab/published/rule.hpp"
#include "tests/properties/studies/published/one_tensor.hpp"

namespace tally::elementwise_test {
namespace {

struct Published {
  std::string rule;
  Dtype storage;
  double relative, absolute;
};

const std::vector<Published> all{
    {"PyTorch assert_close", Dtype::fp32, 1.3e-6, 1e-5}, {"PyTorch assert_close", Dtype::fp16, 1e-3, 1e-5},
    {"PyTorch assert_close", Dtype::bf16, 1.6e-2, 1e-5}, {"accelerate rtol 1e-2", Dtype::fp32, 1e-2, 1e-8},
    {"accelerate rtol 1e-2", Dtype::bf16, 1e-2, 1e-8},   {"accelerate rtol 1e-3", Dtype::fp16, 1e-3, 1e-8},
    {"JAX check_close", Dtype::fp32, 2e-3, 2e-3},        {"JAX check_close", Dtype::fp16, 1e-2, 1e-2},
    {"JAX check_close", Dtype::bf16, 1e-1, 1e-1},
};

TEST(ElementwiseRules, AcceptUpToTheirBorderAndNothingBeyond) {
  for (const Published& p : all) {
    expect_border(p.rule, p.storage, 0, p.absolute);
    expect_border(p.rule, p.storage, 1, p.absolute + p.relative);
    expect_border(p.rule, p.storage, 4096, p.absolute + p.relative * 4096);
  }
}

TEST(ElementwiseRules, TakeTheReferenceForTheRelativePart) {
  for (const Published& p : all) {
    // Farther from the small number than it allows, but not farther than the large one does.
    const double small = 4096, allowed = p.absolute + p.relative * small;
    const double large = small + allowed + p.relative * allowed / 2;

    EXPECT_FALSE(accepts(p.rule, p.storage, tensor_of({large}, {small}))) << p.rule;
    EXPECT_TRUE(accepts(p.rule, p.storage, tensor_of({small}, {large}))) << p.rule;
  }
}

TEST(ElementwiseRules, RejectASingleElementAmongGoodOnes) {
  for (const Published& p : all) {
    EXPECT_TRUE(accepts(p.rule, p.storage, tensor_of({1, 2, 3}, {1, 2, 3}))) << p.rule;
    EXPECT_FALSE(accepts(p.rule, p.storage, tensor_of({1, 9, 3}, {1, 2, 3}))) << p.rule;
  }
}

TEST(ElementwiseRules, HoldNanEqualToNanOnlyWhereTheOriginalDoes) {
  for (const Published& p : all) {
    const bool equal_nan = p.rule == "JAX check_close";

    EXPECT_EQ(accepts(p.rule, p.storage, tensor_of({not_a_number}, {not_a_number})), equal_nan) << p.rule;
    EXPECT_FALSE(accepts(p.rule, p.storage, tensor_of({not_a_number}, {1}))) << p.rule;
    EXPECT_FALSE(accepts(p.rule, p.storage, tensor_of({1}, {not_a_number}))) << p.rule;
  }
}

TEST(ElementwiseRules, HoldAnInfinityEqualToItselfAlone) {
  for (const Published& p : all) {
    EXPECT_TRUE(accepts(p.rule, p.storage, tensor_of({infinite}, {infinite}))) << p.rule;
    EXPECT_FALSE(accepts(p.rule, p.storage, tensor_of({infinite}, {-infinite}))) << p.rule;
    EXPECT_FALSE(accepts(p.rule, p.storage, tensor_of({1}, {infinite}))) << p.rule;
    EXPECT_FALSE(accepts(p.rule, p.storage, tensor_of({infinite}, {1}))) << p.rule;
  }
}

TEST(ElementwiseRules, RejectATensorThatOneRunDoesNotHave) {
  for (const Published& p : all) {
    EXPECT_FALSE(accepts(p.rule, p.storage, tensor_of({}, {1}))) << p.rule;
    EXPECT_FALSE(accepts(p.rule, p.storage, tensor_of({1}, {}))) << p.rule;
  }
}

TEST(JaxCheckClose, AllowsMoreByTheNumberOfElements) {
  const double allowed = 2e-3 * 4;

  EXPECT_TRUE(accepts("JAX check_close", Dtype::fp32, tensor_of({allowed, 0, 0, 0}, {0, 0, 0, 0})));
  EXPECT_FALSE(
      accepts("JAX check_close", Dtype::fp32, tensor_of({std::nextafter(allowed, infinite), 0, 0, 0}, {0, 0, 0, 0})));
}

}  // namespace
}  // namespace tally::elementwise_test
