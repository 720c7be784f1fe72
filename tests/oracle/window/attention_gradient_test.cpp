// Gradients of attention, against sums worked on paper (tests/kernels/attention_case.hpp) and against slopes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "oracle/case/io.hpp"
#include "oracle/exact/exact.hpp"
#include "tests/kernels/attention_case.hpp"
#include "tests/oracle/window/slopes.hpp"

namespace tally::oracle::attention_gradient_test {
namespace {

using Wide = long double;

std::vector<Wide> gradient(const WindowAnswer<Wide>& answer, const char* parameter) {
  const Matrix<Wide>& found = answer.grad.at(parameter);
  return {found.data(), found.data() + found.size()};
}

TEST(AttentionGradient, IsTestedOnValidCases) {
  for (const Case& c : {equal_scores_case(), small_attention_model(1), small_attention_model(2, Dtype::bf16)})
    for (const CaseError& error : validate(c)) ADD_FAILURE() << c.name << ": " << error.path << " " << error.found;
}

/// The loss is the mean of 1 and 1. Row 0 sees itself alone, so that its dS is 0. Row 1 has P = (1/2, 1/2), dP = dy v =
/// (2, 6), D = dy y = 4 and dS = (-1, 1): dq_1 = -1 k_0 + 1 k_1 = 0, dk = dS q_1 = (-2, 2), dv = (2 + 1, 1). The
/// weights take these times x: k's row takes -2 (1, 0, 1) + 2 (2, 0, 3) = (2, 0, 4), v's 3 (1, 0, 1) + 1 (2, 0, 3) =
/// (5, 0, 6).
TEST(AttentionGradient, OfTwoRowsWithEqualScores) {
  const WindowAnswer<Wide> answer = first_window_of(equal_scores_case());

  EXPECT_EQ(answer.loss, 1);
  EXPECT_EQ(gradient(answer, "q.weight"), (std::vector<Wide>{0, 0, 0}));
  EXPECT_EQ(gradient(answer, "k.weight"), (std::vector<Wide>{2, 0, 4}));
  EXPECT_EQ(gradient(answer, "v.weight"), (std::vector<Wide>{5, 0, 6}));
}

/// As two sequences of one row each sees itself alone: y = v, dy = 2 (1 - 0) and 2 (3 - 1), and no score matters.
TEST(AttentionGradient, OfSequencesOfOneRow) {
  Case c = equal_scores_case();
  c.sequences = {1, 1};
  const WindowAnswer<Wide> answer = first_window_of(c);

  EXPECT_EQ(answer.loss, 2.5L);
  EXPECT_EQ(gradient(answer, "k.weight"), (std::vector<Wide>{0, 0, 0}));
  EXPECT_EQ(gradient(answer, "v.weight"), (std::vector<Wide>{2 + 8, 0, 2 + 12}));
  c.sequences = {2};
  c.model.layers.back().options["window"] = std::int64_t{1};
  EXPECT_EQ(gradient(first_window_of(c), "v.weight"), gradient(answer, "v.weight"));
}

/// Both rows see both: y is 2 and 2, dy 4 and 2. dP = (4, 12) and (2, 6), D = 8 and 4, dS = (-2, 2) and (-1, 1):
/// dk = (-2 - 2, 2 + 2), dv = (3, 3).
TEST(AttentionGradient, OfRowsThatSeeEachOther) {
  Case c = equal_scores_case();
  c.model.layers.back().options["causal"] = false;
  const WindowAnswer<Wide> answer = first_window_of(c);

  EXPECT_EQ(answer.loss, 2.5L);
  EXPECT_EQ(gradient(answer, "k.weight"), (std::vector<Wide>{-4 + 8, 0, -4 + 12}));
  EXPECT_EQ(gradient(answer, "v.weight"), (std::vector<Wide>{3 + 6, 0, 3 + 9}));
}

/// q_1 = 0 and k = (1, 3): all scores are 0 again, and dq_1 = s (-1 · 1 + 1 · 3) = 2 s.
TEST(AttentionGradient, IsScaled) {
  const Case c = one_head_case({1, 1, 1, 0, 3, 3}, {0, 1}, {2}, {{"scale", Decimal{"0.25"}}});

  EXPECT_EQ(gradient(first_window_of(c), "q.weight"), (std::vector<Wide>{0, 1.5L, 1.5L}));
}

/// Of rows that see each other, row 0 drops its own weight and row 1 its weight of row 0; what is kept counts twice. y =
/// (1/2) 2 3 and (1/2) 2 3, the loss the mean of 9 and 4, dy = 6 and 4. dP = 2 dy v of what is kept: (0, 36) and (0, 24); D = 18 and 12; dS = (-9, 9)
/// and (-6, 6), dk = (-9 1 - 6 2, 9 1 + 6 2), dv = (0, 6 + 4).
TEST(AttentionGradient, OfWeightsThatAreDropped) {
  Case c = equal_scores_case();
  c.model.layers.back().options["causal"] = false;
  c.model.layers.back().options["p"] = Decimal{"0.5"};
  Tensor mask(Dtype::u8, {1, 4});
  mask.set(1, 1), mask.set(3, 1);
  c.tensors["att.mask"] = mask;
  for (const CaseError& error : validate(c)) ADD_FAILURE() << error.path << " " << error.found;
  const WindowAnswer<Wide> answer = first_window_of(c);

  EXPECT_EQ(answer.loss, (9 + 4) / 2.0L);
  EXPECT_EQ(gradient(answer, "k.weight"), (std::vector<Wide>{-21 + 2 * 21, 0, -21 + 3 * 21}));
  EXPECT_EQ(gradient(answer, "v.weight"), (std::vector<Wide>{2 * 10, 0, 3 * 10}));
}

/// Of one head of one feature, P = (1 - s, s) with s = 1 / (1 + e^(q (k_0 - k_1))).
TEST(AttentionGradient, WeighsByTheScores) {
  const Case c = one_head_case({1, 0.5, 1, 2, 0.25, 3}, {0, 0}, {2});
  const Wide s = 1 / (1 + std::exp(2 * (0.5L - 0.25L))), y = 1 + s * (3 - 1);

  const Wide loss = first_window_of(c).loss;
  EXPECT_LE(std::fabs(loss - (1 + y * y) / 2), 8 * std::numeric_limits<Wide>::epsilon() * loss);
}

TEST(AttentionGradient, IsTheSlopeOfTheLoss) {
  const Options options[] = {{},
                             {{"causal", false}},
                             {{"window", std::int64_t{2}}},
                             {{"kv_heads", std::int64_t{4}}},
                             {{"kv_heads", std::int64_t{1}}, {"scale", Decimal{"0.75"}}},
                             {{"causal", false}, {"window", std::int64_t{2}}},
                             {{"p", Decimal{"0.25"}}},
                             {{"p", Decimal{"0.5"}}, {"causal", false}, {"kv_heads", std::int64_t{1}}}};
  for (const Options& each : options)
    expect_slopes(small_attention_model(3, Dtype::fp32, each),
                  {"q.weight", "q.bias", "k.weight", "v.weight", "wte.weight"});
}

/// The micro-batches' sums and the full batch's are the same, in another order.
TEST(AttentionGradient, IsTheSameByMicroBatches) {
  const Case c = small_attention_model(4);
  const WindowAnswer<Wide> whole = first_window_of(c, Branch::full_batch), parts = first_window_of(c);
  ASSERT_FALSE(whole.grad.empty());
  for (const auto& [name, gradient] : whole.grad) {
    const Wide largest = gradient.cwiseAbs().maxCoeff();
    const Wide apart = (gradient - parts.grad.at(name)).cwiseAbs().maxCoeff();
    EXPECT_LE(apart, 64 * std::numeric_limits<Wide>::epsilon() * largest) << name;
  }
}

}  // namespace
}  // namespace tally::oracle::attention_gradient_test
