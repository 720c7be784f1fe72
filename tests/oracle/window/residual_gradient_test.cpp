// Gradients of outputs that several layers read, against sums worked on paper: small integers throughout, so that every
// expected value is exact. With one feature and one item (mse.2) is dy = 2 (y - t).
#include <gtest/gtest.h>

#include "oracle/case/io.hpp"
#include "oracle/exact/trajectory.hpp"
#include "tests/kernels/residual_case.hpp"

namespace tally::oracle::residual_gradient_test {
namespace {

using Wide = long double;

const Branch branches[] = {Branch::full_batch, Branch::accumulated};

WindowAnswer<Wide> answer_of(const Case& c, Branch branch) {
  return evaluate_window<Wide>(c, 0, branch, initial_state<Wide>(c));
}

Wide gradient(const WindowAnswer<Wide>& answer, const char* parameter) { return answer.grad.at(parameter)(0); }

TEST(ResidualGradient, IsTestedOnValidCases) {
  for (const Case& c : {residual_case(), doubled_case(), half_ulps_case(Dtype::fp32, half_an_ulp(Dtype::fp32))})
    for (const CaseError& error : validate(c)) ADD_FAILURE() << error.path << " " << error.found;
}

/// y = 36, t = 31: the loss is 25, d.sum = 10. b takes all of it: d.b.weight = 10 a = 60. a takes it from sum, and five
/// times as much from b: d.a = 10 (1 + 5) = 60, d.a.weight = 60 x = 120.
TEST(ResidualGradient, AddsWhatBothReadersOfAnOutputGive) {
  for (const Branch branch : branches) {
    const WindowAnswer<Wide> answer = answer_of(residual_case(), branch);

    EXPECT_EQ(answer.loss, 25) << name_of(branch);
    EXPECT_EQ(gradient(answer, "b.weight"), 60) << name_of(branch);
    EXPECT_EQ(gradient(answer, "a.weight"), 120) << name_of(branch);
  }
}

/// y = 12, t = 7: the loss is 25, d.sum = 10. a takes it twice: d.a = 20, d.a.weight = 20 x = 40.
TEST(ResidualGradient, CountsAnOutputTwiceThatIsNamedTwice) {
  for (const Branch branch : branches) {
    const WindowAnswer<Wide> answer = answer_of(doubled_case(), branch);

    EXPECT_EQ(answer.loss, 25) << name_of(branch);
    EXPECT_EQ(gradient(answer, "a.weight"), 40) << name_of(branch);
  }
}

/// y = a + x = 8, t = 3: the loss is 25, d.sum = 10, and nothing is asked of x: d.a.weight = 10 x = 20.
TEST(ResidualGradient, PassesOverTheModelsInput) {
  const Case c = one_row_case({weight_alone("a"), reading({"a", "input"}, layer_of("add", "sum"))}, 2, 3, {{"a", 3}});
  for (const Branch branch : branches) {
    const WindowAnswer<Wide> answer = answer_of(c, branch);

    EXPECT_EQ(answer.loss, 25) << name_of(branch);
    EXPECT_EQ(gradient(answer, "a.weight"), 20) << name_of(branch);
  }
}

/// a = 6, b = 5 a = 30, first = a + b = 36, c = 4 first = 144, second = first + c = 180, t = 175: d.second = 10. c takes
/// all of it: d.c.weight = 10 first = 360. first takes it, and four times as much from c: d.first = 10 (1 + 4) = 50. Of
/// that d.b.weight = 50 a = 300, d.a = 50 (1 + 5) = 300, d.a.weight = 300 x = 600.
TEST(ResidualGradient, GoesThroughOneBlockOnTopOfAnother) {
  const Case c = one_row_case({weight_alone("a"), weight_alone("b"), reading({"a", "b"}, layer_of("add", "first")),
                               weight_alone("c"), reading({"first", "c"}, layer_of("add", "second"))},
                              2, 175, {{"a", 3}, {"b", 5}, {"c", 4}});
  for (const Branch branch : branches) {
    const WindowAnswer<Wide> answer = answer_of(c, branch);

    EXPECT_EQ(answer.loss, 25) << name_of(branch);
    EXPECT_EQ(gradient(answer, "c.weight"), 360) << name_of(branch);
    EXPECT_EQ(gradient(answer, "b.weight"), 300) << name_of(branch);
    EXPECT_EQ(gradient(answer, "a.weight"), 600) << name_of(branch);
  }
}

/// Exactly, the order of additions is nothing: y = 1 + 2h, dy = 1, and a takes 1 from sum, h from b and h from c.
TEST(ResidualGradient, RoundsNothingWhereTheStepDoes) {
  const double h = half_an_ulp(Dtype::fp32);
  for (const Branch branch : branches)
    EXPECT_EQ(gradient(answer_of(half_ulps_case(Dtype::fp32, h), branch), "a.weight"), 1 + 2 * static_cast<Wide>(h))
        << name_of(branch);
}

}  // namespace
}  // namespace tally::oracle::residual_gradient_test
