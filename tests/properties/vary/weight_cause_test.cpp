#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "properties/diagnosis/vary/causes.hpp"

namespace tally::weight_cause_test {
namespace {

constexpr double sharpness = 0x1p-26;

using Factor = std::function<double(std::size_t k)>;  // by which micro-batch k weighs too much

VaryWeights weights_of(const std::vector<double>& rows, const Factor& factor) {
  VaryWeights weights;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    weights.how.sizes.push_back(static_cast<std::int64_t>(rows[k]));
    weights.meant.push_back(0.125);
    weights.found.push_back(0.125 * factor(k));
  }
  return weights;
}

ToldCause told(const VaryCounts& counts, const Factor& factor) {
  const VaryWeights weights = weights_of(counts.rows, factor);
  return cause_of_weights({{counts, &weights}}, sharpness);
}

std::string number(const ToldCause& cause, const std::string& letter) {
  for (const auto& [name, value] : cause.numbers)
    if (name == letter) return value;
  return "";
}

const VaryCounts of_rows{{3, 3, 2}, {3, 3, 2}, 1}, of_items{{3, 3, 2}, {5, 6, 9}, 1},
    of_ranks{{2, 2, 2, 2}, {5, 6, 9, 4}, 2};

TEST(WeightCause, IsAFormulaOfWhatTheWindowHolds) {
  EXPECT_EQ(told(of_rows, [](std::size_t k) { return 8 / (3 * of_rows.rows[k]); }).name, "1/(K n_k)");
  EXPECT_EQ(told(of_rows, [](std::size_t k) { return 8 / of_rows.rows[k]; }).name, "1/n_k");
  EXPECT_EQ(told(of_rows, [](std::size_t k) { return of_rows.rows[k] / 8; }).name, "n_k/N");
  EXPECT_EQ(told(of_rows, [](std::size_t) { return 1.0 / 3; }).name, "1/K");
  EXPECT_EQ(told(of_rows, [](std::size_t) { return 3; }).name, "K");
  EXPECT_EQ(told(of_rows, [](std::size_t) { return 1.0 / 8; }).name, "1/N");
  EXPECT_EQ(told(of_rows, [](std::size_t) { return 8; }).name, "N");
  EXPECT_EQ(told(of_rows, [](std::size_t) { return -1; }).name, "-1");
  EXPECT_EQ(told(of_rows, [](std::size_t) { return 1.5; }).name, "K/(K-1)");
}

TEST(WeightCause, OfRanksCountsWhatEachOfThemHolds) {
  const auto of_rank = [](std::size_t k) { return k < 2 ? 5 + 6 : 9 + 4; };
  EXPECT_EQ(told(of_ranks, [](std::size_t) { return 0.5; }).name, "1/R");
  EXPECT_EQ(told(of_ranks, [](std::size_t) { return 2; }).name, "R");
  EXPECT_EQ(told(of_ranks, [&](std::size_t k) { return 24.0 / of_rank(k); }).name, "1/n_r");
  const ToldCause own = told(of_ranks, [&](std::size_t k) { return 24.0 / (2 * of_rank(k)); });
  EXPECT_EQ(own.name, "1/(R n_r)");
  EXPECT_EQ(number(own, "n"), "11");
  EXPECT_EQ(told(of_ranks, [](std::size_t k) { return k < 2 ? 1 : 0; }).name, "ranks apart");
  EXPECT_EQ(told(of_ranks, [](std::size_t k) { return k == 1 ? 1 : 0; }).name, "0");
  EXPECT_EQ(told(of_ranks, [](std::size_t k) { return k < 2 ? 0.75 : 0.6; }).name, "a scale of its rank");
}

TEST(WeightCause, CountsItemsAndNamesTheMicroBatchThatIsFarthestOff) {
  const ToldCause cause = told(of_items, [](std::size_t k) { return 20 / (3 * of_items.items[k]); });

  EXPECT_EQ(cause.name, "1/(K n_k)");
  EXPECT_EQ(number(cause, "rows"), "items");
  EXPECT_EQ(number(cause, "n"), "5");
  EXPECT_EQ(number(cause, "N"), "20");
  EXPECT_EQ(told(of_items, [](std::size_t k) { return of_items.rows[k] / 8 * 20 / of_items.items[k]; }).name,
            "n_k/N of t_k");
}

TEST(WeightCause, IsAFormulaOfRowsWhereTheLoopCountsTheseAllTheSame) {
  const ToldCause cause = told(of_items, [](std::size_t k) { return 8 / (3 * of_items.rows[k]); });

  EXPECT_EQ(cause.name, "1/(K n_k)");
  EXPECT_EQ(number(cause, "rows"), "rows");
  EXPECT_EQ(number(cause, "n"), "2");
}

TEST(WeightCause, CountsPlacesOfPaddingWhereTheLoopDoes) {
  const VaryCounts padded{{3, 3, 2}, {5, 6, 9}, 1, {6, 9, 12}, 48};
  const ToldCause cause = told(padded, [&](std::size_t k) { return 48 / (3 * padded.places[k]); });

  EXPECT_EQ(cause.name, "1/(K p_k)");
  EXPECT_EQ(number(cause, "p"), "6");
  EXPECT_EQ(number(cause, "N"), "20");
  EXPECT_EQ(told(padded, [&](std::size_t k) { return 48 / padded.places[k]; }).name, "1/p_k");
  EXPECT_EQ(told(padded, [](std::size_t k) { return double(3 - k); }).name, "weights");
}

TEST(WeightCause, CountsRowsWherePaddingMakesNoOtherCounts) {
  const VaryCounts alike{{3, 3, 2}, {5, 6, 9}, 1, {9, 9, 6}, 24};
  EXPECT_EQ(told(alike, [&](std::size_t k) { return 8 / (3 * alike.rows[k]); }).name, "1/(K n_k)");
}

/// Of micro-batches alone, whose means are of these counts, which nobody saw.
VaryWeights hidden_weights(const std::vector<double>& counts, const Factor& factor) {
  VaryWeights weights = weights_of({4, 4}, factor);
  for (std::size_t k = 0; k < 2; ++k) {
    weights.meant[k] = counts[k] / (counts[0] + counts[1]) / 4;
    weights.found[k] = weights.meant[k] * factor(k);
  }
  return weights;
}

TEST(WeightCause, CountsWhatNobodySawByWhatMicroBatchesShouldWeigh) {
  const VaryCounts equal{{4, 4}, {4, 4}, 1};
  const auto told_of = [&](const std::vector<double>& counts, const Factor& factor) {
    const VaryWeights weights = hidden_weights(counts, factor);
    return cause_of_weights({{equal, &weights}}, sharpness);
  };
  const ToldCause mean = told_of({3, 2}, [](std::size_t k) { return 5 / (2 * (k == 0 ? 3.0 : 2.0)); });
  EXPECT_EQ(mean.name, "1/(K n_k)");
  EXPECT_EQ(filled_in(vary_cause(mean.name).what, mean.numbers),
            "each micro-batch's loss is divided by its own items and by K = 2");
  EXPECT_EQ(mean.change, "divide each sum by all that counts in the window: `loss.sum() / window_items`");
  EXPECT_EQ(told_of({3, 2}, [](std::size_t k) { return 5 / (k == 0 ? 3.0 : 2.0); }).name, "1/n_k");
  EXPECT_EQ(told_of({3, 2}, [](std::size_t k) { return 0.7 * 5 / (k == 0 ? 3.0 : 2.0); }).name, "1/n_k and a factor");
  EXPECT_EQ(told_of({3, 2}, [](std::size_t k) { return k == 0 ? 0.9 : 0.3; }).name, "weights");
}

TEST(WeightCause, CountsWhatNobodySawByWhatTheLoopLeft) {
  const VaryCounts equal{{4, 4}, {4, 4}, 1, {}, 0, true};
  EXPECT_EQ(told(equal, [](std::size_t k) { return 5 / (2 * (k == 0 ? 3.0 : 2.0)); }).name, "1/(K n_k)");
  EXPECT_EQ(told(equal, [](std::size_t k) { return 5 / (k == 0 ? 3.0 : 2.0); }).name, "1/n_k");
  EXPECT_EQ(told(equal, [](std::size_t k) { return k == 0 ? 0.9 : 0.3; }).name, "each earlier counts more");
  const VaryCounts uneven{{6, 2}, {6, 2}, 1, {}, 0, true};
  EXPECT_EQ(told(uneven, [](std::size_t k) { return k == 0 ? 0.75 * 5 / 3 : 0.25 * 5 / 2; }).name, "n_k/N of t_k");
}

TEST(WeightCause, TellsAScaleOfItsOwnFromCounts) {
  const VaryCounts equal{{4, 4}, {4, 4}, 1};
  const double share = std::sqrt(0.5);
  const VaryWeights loss =
      hidden_weights({share, 1 - share}, [&](std::size_t k) { return 1 / (2 * (k == 0 ? share : 1 - share)); });
  EXPECT_EQ(cause_of_weights({{equal, &loss}}, sharpness).name, "a scale of its own");
  VaryWeights norm = loss;
  norm.meant = {0.216, 0.0939};
  EXPECT_EQ(cause_of_weights({{equal, &norm}}, sharpness).name, "a scale of its own");
}

TEST(WeightCause, IsNoFormulaByWhichAPartitionThatPassesWouldFail) {
  const VaryCounts failing{{6, 2}, {21, 7}, 1}, passing{{4, 4}, {16, 12}, 1};
  const VaryWeights first = weights_of(failing.rows, [&](std::size_t k) { return 8 / (2 * failing.rows[k]); });
  const VaryWeights right = weights_of(passing.rows, [](std::size_t) { return 1; });
  EXPECT_EQ(number(cause_of_weights({{failing, &first}}, sharpness), "rows"), "items");
  EXPECT_EQ(number(cause_of_weights({{failing, &first}, {passing, &right}}, sharpness), "rows"), "rows");
}

TEST(WeightCause, SeesCountsRiseFromThoseThatAreSilent) {
  EXPECT_TRUE(counts_rise(weights_of({1, 1, 1, 1}, [](std::size_t k) { return std::pow(2.0, 40.0 * (double(k) - 3)); }),
                          sharpness));
  EXPECT_FALSE(counts_rise(weights_of({1, 1, 1}, [](std::size_t k) { return k == 1 ? 2 : 1; }), sharpness));
  EXPECT_FALSE(counts_rise(weights_of({1, 1, 1}, [](std::size_t) { return 2; }), sharpness));
}

TEST(WeightCause, SeesAFormulaBehindAFactorOfAll) {
  EXPECT_EQ(told(of_rows, [](std::size_t k) { return 0.7 * 8 / of_rows.rows[k]; }).name, "1/n_k and a factor");
  EXPECT_EQ(told(of_rows, [](std::size_t) { return 0.7; }).name, "a factor");
}

TEST(WeightCause, NamesWhoIsSilent) {
  EXPECT_EQ(told(of_rows, [](std::size_t k) { return k == 2 ? 1 : 0; }).name, "the last alone");
  const ToldCause cause = told(of_rows, [](std::size_t k) { return k == 1 ? 0 : 1; });
  EXPECT_EQ(cause.name, "0");
  EXPECT_EQ(number(cause, "k"), "1");
}

TEST(WeightCause, ElseSaysWhatTheWeightsHaveInCommon) {
  EXPECT_EQ(told(of_rows, [](std::size_t k) { return 0.1 * double(1 + k * k); }).name, "each later counts more");
  EXPECT_EQ(told(of_rows, [](std::size_t k) { return 3.5 - double(k); }).name, "each earlier counts more");
  EXPECT_EQ(told(of_rows, [](std::size_t k) { return k == 1 ? 0.9 : 0.3; }).name, "weights");
  EXPECT_EQ(told(of_rows, [](std::size_t k) { return k == 1 ? std::nan("") : 1; }).name, "weights");
}

TEST(WeightCause, IsAsSharpAsItIsTold) {
  EXPECT_EQ(told(of_rows, [](std::size_t) { return 3 * (1 + sharpness / 2); }).name, "K");
  EXPECT_EQ(told(of_rows, [](std::size_t) { return 3 * (1 + sharpness * 2); }).name, "a factor");
}

TEST(WeightCause, OfSeveralFormulasIsTheOneThatAnotherPartitionFits) {
  const VaryCounts equal{{4, 4}, {4, 4}, 1};
  const VaryWeights first = weights_of(equal.rows, [](std::size_t) { return 2; });
  const VaryWeights second = weights_of(of_rows.rows, [](std::size_t) { return 3; });

  EXPECT_EQ(cause_of_weights({{equal, &first}}, sharpness).name, "1/n_k");
  EXPECT_EQ(cause_of_weights({{equal, &first}, {of_rows, &second}}, sharpness).name, "K");
}

TEST(VaryCauses, HaveNamesOfTheirOwnAndTextsWithoutBraces) {
  std::set<std::string> names;
  for (const VaryCause& cause : vary_causes()) {
    EXPECT_TRUE(names.insert(cause.name).second) << cause.name;
    for (const std::string& text : {filled_in(cause.what, {}), filled_in(cause.change, {})}) {
      EXPECT_FALSE(text.empty()) << cause.name;
      EXPECT_EQ(text.find_first_of("{}"), std::string::npos) << text;
    }
  }
  EXPECT_FALSE(names.empty());
}

TEST(VaryCauses, AreFilledWithNumbersOrStandWithTheirLetters) {
  EXPECT_EQ(filled_in("{n} of {N} {rows} and {K=}", {{"n", "2"}, {"N", "8"}, {"rows", "items"}, {"K", "3"}}),
            "2 of 8 items and K = 3");
  EXPECT_EQ(filled_in("{n} of {N} {rows} and {K=}", {}), "n_k of N rows and K");
}

}  // namespace
}  // namespace tally::weight_cause_test
