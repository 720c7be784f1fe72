// The rules that judge by norms and by an fp32 run, at the borders of their definitions.
#include "tests/properties/studies/published/one_tensor.hpp"

namespace tally::normwise_test {
namespace {

const std::string ttrace = "TTrace 8.3 %", blaspp = "BLAS++ ratio", flash = "FlashAttention 2x";

ComparedTensor product_of(std::vector<double> got, std::vector<double> reference, const Product& product) {
  ComparedTensor tensor = tensor_of(std::move(got), std::move(reference));
  tensor.product = product;
  return tensor;
}

ComparedTensor against_fp32(std::vector<double> got, std::vector<double> reference, std::vector<double> precise) {
  ComparedTensor tensor = tensor_of(std::move(got), std::move(reference));
  tensor.precise = std::move(precise);
  return tensor;
}

TEST(TTraceRule, HasTheBoundOfEightPointThreePercent) {
  EXPECT_TRUE(accepts(ttrace, Dtype::fp32, tensor_of({3, 4 + 5 * 0.0828}, {3, 4})));
  EXPECT_FALSE(accepts(ttrace, Dtype::fp32, tensor_of({3, 4 + 5 * 0.0829}, {3, 4})));
}

TEST(TTraceRule, AcceptsUpToItsBoundAndNothingBeyondInEveryFormat) {
  const double bound = 4 * std::pow(1.03, 33) / 128;

  // Of one element, root and square cancel exactly in binary arithmetic, and so does the norm 1.
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) expect_border(ttrace, storage, 1, bound);
}

TEST(TTraceRule, JudgesTheWholeTensorAndNotItsElements) {
  EXPECT_TRUE(accepts(ttrace, Dtype::fp32, tensor_of({1000, 1}, {1000, 2})));
  EXPECT_FALSE(accepts(ttrace, Dtype::fp32, tensor_of({1}, {2})));
}

TEST(TTraceRule, RejectsNanAndAnythingButZeroAgainstZero) {
  EXPECT_FALSE(accepts(ttrace, Dtype::fp32, tensor_of({not_a_number}, {not_a_number})));
  EXPECT_FALSE(accepts(ttrace, Dtype::fp32, tensor_of({infinite}, {infinite})));
  EXPECT_TRUE(accepts(ttrace, Dtype::fp32, tensor_of({0}, {0})));
  EXPECT_FALSE(accepts(ttrace, Dtype::fp32, tensor_of({std::ldexp(1.0, -40)}, {0})));
}

TEST(BlasRule, AcceptsBelowTheUnitRoundoffAndNotAtIt) {
  const Product product{7, 2, 4};  // sqrt(7 + 2) * 2 * 4 = 24
  for (const auto& [storage, p] : {std::pair(Dtype::fp32, 24), std::pair(Dtype::fp16, 11), std::pair(Dtype::bf16, 8)}) {
    const double at = std::ldexp(24, -p);

    EXPECT_FALSE(accepts(blaspp, storage, product_of({at}, {0}, product)));
    EXPECT_TRUE(accepts(blaspp, storage, product_of({std::nextafter(at, 0)}, {0}, product)));
  }
}

TEST(BlasRule, LooksAtProductsAlone) {
  EXPECT_TRUE(accepts(blaspp, Dtype::fp32, tensor_of({1}, {2})));
  EXPECT_FALSE(accepts(blaspp, Dtype::fp32, product_of({1}, {2}, {1, 1, 1})));
}

TEST(BlasRule, RejectsNanAndAMissingProductButNotZeros) {
  EXPECT_FALSE(accepts(blaspp, Dtype::fp32, product_of({not_a_number}, {0}, {1, 1, 1})));
  EXPECT_FALSE(accepts(blaspp, Dtype::fp32, product_of({}, {0}, {1, 1, 1})));
  EXPECT_TRUE(accepts(blaspp, Dtype::fp32, product_of({0}, {0}, {1, 0, 0})));
}

TEST(FlashAttentionRule, AllowsTwiceTheErrorOfTheReferenceAndALittle) {
  const double of_reference = 0.25, allowed = 2 * of_reference + 1e-5;

  EXPECT_TRUE(accepts(flash, Dtype::fp16, against_fp32({allowed}, {of_reference}, {0})));
  EXPECT_FALSE(accepts(flash, Dtype::fp16, against_fp32({std::nextafter(allowed, infinite)}, {of_reference}, {0})));
}

TEST(FlashAttentionRule, ComparesTheLargestErrorsWhereverTheyAre) {
  EXPECT_TRUE(accepts(flash, Dtype::fp16, against_fp32({0.5, 0, 0}, {0, 0, 0.25}, {0, 0, 0})));
}

TEST(FlashAttentionRule, RejectsNanWhereverItIs) {
  EXPECT_FALSE(accepts(flash, Dtype::fp16, against_fp32({not_a_number}, {1}, {0})));
  EXPECT_FALSE(accepts(flash, Dtype::fp16, against_fp32({1}, {not_a_number}, {0})));
  EXPECT_FALSE(accepts(flash, Dtype::fp16, against_fp32({1}, {1}, {not_a_number})));
}

TEST(FlashAttentionRule, IsMadeFor16BitStorage) {
  const PublishedRule* rule = find_rule(flash);

  ASSERT_NE(rule, nullptr);
  EXPECT_FALSE(rule->applies(Dtype::fp32));
  EXPECT_TRUE(rule->applies(Dtype::fp16));
  EXPECT_TRUE(rule->applies(Dtype::bf16));
}

TEST(PublishedRules, SayWhereTheyArePublishedAndWhatTheyAccept) {
  EXPECT_FALSE(published_rules().empty());
  for (const PublishedRule* rule : published_rules()) {
    EXPECT_FALSE(rule->source.empty()) << rule->name;
    EXPECT_TRUE(rule->statement.ends_with('.')) << rule->name;
  }
  EXPECT_EQ(find_rule("no such rule"), nullptr);
}

}  // namespace
}  // namespace tally::normwise_test
