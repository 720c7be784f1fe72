#include "properties/lab/sweeps/exact_problem.hpp"

#include <gtest/gtest.h>

#include "properties/campaign/training/data.hpp"

namespace tally::exact_problem_test {
namespace {

TEST(ExactProblem, HasOneExactAnswerInEveryStorageFormat) {
  for (const RowSource source : {RowSource::drawn, RowSource::digits}) {
    const auto answer = [&](Dtype storage) {
      return trained(exact_case({.source = source, .rows = 5, .seed = 3, .storage = storage}));
    };
    EXPECT_EQ(answer(Dtype::fp32), answer(Dtype::fp16));
  }
}

TEST(ExactProblem, DrawsOtherRowsAndParametersForAnotherSeed) {
  for (const RowSource source : {RowSource::drawn, RowSource::digits}) {
    const Case a = exact_case({.source = source, .seed = 3}), b = exact_case({.source = source, .seed = 4});
    EXPECT_NE(a.tensors.at("x").bytes, b.tensors.at("x").bytes);
    EXPECT_NE(a.tensors.at("fc1.weight").bytes, b.tensors.at("fc1.weight").bytes);
  }
}

TEST(ExactProblem, BeginsAgainAtTheEndOfTheDigits) {
  const Digits& data = digits_data();
  const auto last = static_cast<std::int64_t>(data.labels.size());
  const Case c = exact_case({.source = RowSource::digits, .rows = last + 1, .seed = 0});
  EXPECT_EQ(c.tensors.at("target").integer(static_cast<std::size_t>(last)), data.labels[0]);
}

TEST(ExactProblem, ClassifiesADrawnRowByItsLargestFeature) {
  const Case c = exact_case({.rows = 20});
  const Tensor& x = c.tensors.at("x");
  for (std::size_t row = 0; row < 20; ++row) {
    const auto label = static_cast<std::size_t>(c.tensors.at("target").integer(row));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_GE(x.value(8 * row + label), x.value(8 * row + i));
  }
}

TEST(ExactProblem, RefusesWindowsThatLeaveRowsOver) {
  EXPECT_THROW(in_windows(exact_case({.rows = 7}), 1, 3, 2), std::logic_error);
}

}  // namespace
}  // namespace tally::exact_problem_test
