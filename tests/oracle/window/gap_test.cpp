#include <gtest/gtest.h>

#include "oracle/exact/answer.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/real/real.hpp"
#include "tests/oracle/window/small_case.hpp"

namespace tally::oracle::gap_test {
namespace {

/// Adam, decay and clipping, so that a gap in the gradient would reach the parameters by every way there is.
Case demanding(Case c) {
  c.recipe.optimizer = {"adam", {{"beta1", Decimal{"0.9"}}, {"beta2", Decimal{"0.999"}}, {"eps", Decimal{"1e-8"}}}};
  c.recipe.weight_decay = {"decoupled", {{"lambda", Decimal{"0.01"}}, {"exclude", std::vector<std::string>{"norm"}}}};
  c.recipe.clip = {"global_norm",
                   {{"max_norm", Decimal{"0.01"}}, {"norm", std::string("2")}, {"epsilon", Decimal{"1e-6"}}}};
  return c;
}

void expect_no_gap(const Case& c) {
  const auto gaps = semantic_gap(c);
  EXPECT_EQ(gaps.size(), c.windows.size());
  for (const WindowGap& gap : gaps) {
    EXPECT_EQ(gap.gradient, 0);
    EXPECT_EQ(gap.parameter, 0);
  }
}

TEST(SemanticGap, IsZeroForWindowItemsWithoutMicroBatchStatistics) {
  expect_no_gap(demanding(small_case({{3, 2}, {1, 4, 2}}, "window")));
  expect_no_gap(demanding(small_case({{3, 2}, {1, 4, 2}}, "frozen")));
}

TEST(SemanticGap, IsZeroForMeanOfMeansWithEqualItems) {
  expect_no_gap(small_case({{2, 2}, {2, 2}}, "window", Normalisation::window_items));
  Case c = small_case({{2, 2}, {2, 2}}, "window", Normalisation::mean_of_means);
  c.tensors.at("target").set(3, 1);  // nothing ignored: two items in each micro-batch
  expect_no_gap(c);
}

TEST(SemanticGap, IsThereForMeanOfMeansWithUnequalItems) {
  const auto gaps = semantic_gap(small_case({{3, 2}}, "window", Normalisation::mean_of_means));

  EXPECT_GT(gaps.at(0).gradient, 0);
  EXPECT_GT(gaps.at(0).parameter, 0);
}

TEST(SemanticGap, IsThereForMicroBatchStatistics) {
  EXPECT_GT(semantic_gap(small_case({{3, 2}}, "micro_batch")).at(0).gradient, 0);
}

TEST(SemanticGap, IsZeroForMicroBatchStatisticsWithOneMicroBatch) {
  expect_no_gap(small_case({{5}, {4}}, "micro_batch"));
}

/// Every micro-batch repeats the first, so that its statistics are the window's.
Case repeated() {
  Case c = small_case({{3, 3, 3}}, "micro_batch", Normalisation::mean_of_means);
  c.model.loss.options["weight"] = std::vector<Decimal>{{"0.3"}, {"0.7"}, {"0.1"}};
  for (const auto& [name, columns] : std::map<std::string, std::size_t>{{"x", 3}, {"target", 1}, {"drop.mask", 4}})
    for (std::size_t i = 3 * columns; i < 9 * columns; ++i)
      c.tensors.at(name).set_bits(i, c.tensors.at(name).bits(i - 3 * columns));
  return c;
}

TEST(SemanticGap, IsZeroWhereTheBranchesDifferByRoundingAlone) {
  set_digits(50);
  const Case c = repeated();
  const auto full = trajectory<Real>(c, Branch::full_batch), accumulated = trajectory<Real>(c, Branch::accumulated);

  EXPECT_FALSE(full[0].grad == accumulated[0].grad);  // what semantic_gap has to see through
  expect_no_gap(c);
}

TEST(SemanticGap, OfSumIsTheItemsLessOne) {
  const auto gaps = semantic_gap(small_case({{3, 2}}, "window", Normalisation::sum));  // 4 items: |4 g - g| / |g|

  EXPECT_EQ(gaps.at(0).gradient, 3);
}

TEST(SemanticGap, OfAShortTailUnderTheConfiguredCountIsItsShortfall) {
  const auto gaps = semantic_gap(small_case({{3, 3}, {3}}, "frozen", Normalisation::mean_of_means_configured));

  EXPECT_GT(gaps.at(1).gradient, 0);  // the tail counts half
}

TEST(SemanticGap, LeavesThePrecisionAsItFoundIt) {
  set_digits(61);
  semantic_gap(small_case({{3, 2}}, "window"));

  EXPECT_EQ(digits(), 61u);
}

}  // namespace
}  // namespace tally::oracle::gap_test
