// Gradients of models over tokens, against sums worked on paper (tests/kernels/token_case.hpp).
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/case/io.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/exact/trajectory.hpp"
#include "tests/kernels/token_case.hpp"

namespace tally::oracle::token_gradient_test {
namespace {

using Wide = long double;

const Branch branches[] = {Branch::full_batch, Branch::accumulated};

WindowAnswer<Wide> answer_of(const Case& c, Branch branch = Branch::accumulated) {
  return evaluate_window<Wide>(c, 0, branch, initial_state<Wide>(c));
}

std::vector<Wide> gradient(const WindowAnswer<Wide>& answer, const char* parameter) {
  const Matrix<Wide>& found = answer.grad.at(parameter);
  return {found.data(), found.data() + found.size()};
}

TEST(TokenGradient, IsTestedOnValidCases) {
  for (const Case& c : {looked_up_case(), placed_case(), shifted_case(), tied_case()})
    for (const CaseError& error : validate(c)) ADD_FAILURE() << c.name << ": " << error.path << " " << error.found;
}

/// y - t is 3, -2 and -1, so that the loss is the mean of 9, 4 and 1, and dy 6, -4 and -2: 6 and -2 are token 2's, -4
/// is token 0's, and token 1 does not occur.
TEST(TokenGradient, AddsTheRowsOfEveryToken) {
  const WindowAnswer<Wide> answer = answer_of(looked_up_case());

  EXPECT_EQ(answer.loss, 14 / 3.0L);
  EXPECT_EQ(gradient(answer, "wte.weight"), (std::vector<Wide>{-4, 0, 4}));
}

TEST(TokenGradient, LeavesThePaddingTokensRowOut) {
  Case c = looked_up_case();
  c.model.layers[0].options["padding_index"] = std::int64_t{2};

  EXPECT_EQ(gradient(answer_of(c), "wte.weight"), (std::vector<Wide>{-4, 0, 0}));
}

/// y - t is 1, -1 and 3, dy 2, -2 and 6. Token 2 takes 8, token 0 -2; position 0 is the first row's and the third's.
TEST(TokenGradient, AddsTheRowsOfEveryPosition) {
  const WindowAnswer<Wide> answer = answer_of(placed_case());

  EXPECT_EQ(answer.loss, 11 / 3.0L);
  EXPECT_EQ(gradient(answer, "wte.weight"), (std::vector<Wide>{-2, 0, 8}));
  EXPECT_EQ(gradient(answer, "wpe.weight"), (std::vector<Wide>{8, -2}));
}

TEST(TokenGradient, ReadsPositionsThatTheCaseGives) {
  Case c = placed_case();
  c.tensors["positions"] = whole_numbers({1, 1, 1});

  EXPECT_EQ(gradient(answer_of(c), "wpe.weight")[0], 0);
  c.tensors["positions"] = whole_numbers({0, 1, 0});
  EXPECT_EQ(gradient(answer_of(c), "wpe.weight"), (std::vector<Wide>{8, -2}));
}

/// The product gives 2 · 4, 2 · 1 and -2 · 4 to rows 0, 1 and 2; dh is 2 · 1, 2 · 2 and -2 · 4, so that the look-ups
/// give 4 to row 0 and 2 - 8 to row 2.
TEST(TokenGradient, AddsBothUsesOfATiedWeight) {
  const WindowAnswer<Wide> answer = answer_of(tied_case());

  EXPECT_EQ(gradient(answer, "wte.weight"), (std::vector<Wide>{12, 2, -14}));
  EXPECT_EQ(answer.grad.size(), 1u);
}

/// Row 2 takes nothing from look-ups, and what the product gives stays.
TEST(TokenGradient, KeepsTheProductsPartOfThePaddingTokensRow) {
  Case c = tied_case();
  c.model.layers[0].options["padding_index"] = std::int64_t{2};

  EXPECT_EQ(gradient(answer_of(c), "wte.weight"), (std::vector<Wide>{12, 2, -8}));
}

/// One item: the loss is log 2, and dz of row 0 is p - [c = 1], 1/2 and -1/2, times the token's 4.
TEST(TokenGradient, ScoresARowByTheNextLabelOfItsSequence) {
  for (const Branch branch : branches) {
    const WindowAnswer<Wide> answer = answer_of(shifted_case(), branch);

    EXPECT_EQ(window_items<Wide>(shifted_case(), 0), 1);
    EXPECT_EQ(answer.loss, std::log(2.0L)) << name_of(branch);
    EXPECT_EQ(gradient(answer, "head.weight"), (std::vector<Wide>{2, -2})) << name_of(branch);
  }
}

/// Unshifted all three rows are scored: classes 0, 1 and 1, with h = 4, 1 and 4. dW_0 = (-4 + 1 + 4) / 2 / 3.
TEST(TokenGradient, CountsEveryLabelWithoutTheShift) {
  Case c = shifted_case();
  c.model.loss.options["shift"] = false;

  EXPECT_EQ(window_items<Wide>(c, 0), 3);
  EXPECT_EQ(gradient(answer_of(c), "head.weight")[0], 1 / 6.0L);
}

/// L = log 2: the loss takes L^2 / 2 on top, and dz_c takes 2 · 1/2 · L p_c = L / 2, times 4.
TEST(TokenGradient, AddsTheSquareOfTheLogOfTheSum) {
  Case c = shifted_case();
  c.model.loss.options["z_loss"] = Decimal{"0.5"};
  const WindowAnswer<Wide> answer = answer_of(c);
  const Wide L = std::log(2.0L);

  EXPECT_EQ(answer.loss, L + L * L / 2);
  EXPECT_EQ(gradient(answer, "head.weight"), (std::vector<Wide>{2 + 2 * L, -2 + 2 * L}));
}

TEST(TokenDecay, ExcludesTablesThatAreLookedUp) {
  const auto decay = [](std::vector<std::string> exclude) {
    return Choice{"l2", {{"lambda", Decimal{"0.5"}}, {"exclude", std::move(exclude)}}};
  };
  const Model tied = tied_case().model, placed = placed_case().model;

  EXPECT_FALSE(decays(tied, decay({"embedding"}), "wte.weight"));
  EXPECT_TRUE(decays(tied, decay({"norm", "bias"}), "wte.weight"));
  EXPECT_FALSE(decays(placed, decay({"embedding"}), "wpe.weight"));
  EXPECT_TRUE(decays(shifted_case().model, decay({"embedding"}), "head.weight"));
}

/// The same by a difference: no other formula of the derivative is asked.
TEST(TokenGradient, IsTheSlopeOfTheLossWithItsSquare) {
  Case c = shifted_case();
  c.model.loss.options["z_loss"] = Decimal{"0.25"};
  c.tensors["head.weight"].set(0, 0.5);
  const Wide slope = gradient(answer_of(c), "head.weight")[0];
  constexpr double step = 0x1p-12;
  const auto loss_at = [&](double weight) {
    c.tensors["head.weight"].set(0, weight);
    return answer_of(c).loss;
  };

  const Wide difference = (loss_at(0.5 + step) - loss_at(0.5 - step)) / (2 * step);
  EXPECT_LT(std::fabs(difference - slope), std::fabs(slope) * step);  // the error is of the order of step squared
}

}  // namespace
}  // namespace tally::oracle::token_gradient_test
