#include "properties/operations/judge_call.hpp"

#include <gtest/gtest.h>

#include "tests/oracle/operations/machines.hpp"

namespace tally::judge_call_test {
namespace {

using namespace oracle::operations;  // NOLINT(google-build-using-namespace)
using oracle::infinite;

JudgedCall judged(const std::string& name, const Arguments& arguments, const View& out) {
  return judge(call_of(name, arguments, {out}), {});
}

TEST(JudgedCalls, TellTheFirstAndTheWorstElement) {
  const JudgedCall call = judged("exp", {{"self", tensor({2, 2}, {0, 0, 0, 0})}}, tensor({2, 2}, {1, 2, 1, 9}));

  ASSERT_EQ(call.results.size(), 1u);
  const JudgedResult& result = call.results[0];
  EXPECT_TRUE(call.fails());
  EXPECT_EQ(result.wrong, 2);
  EXPECT_EQ(result.elements_worst.at(0).place, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(result.elements_worst.at(0).found, 9);
  EXPECT_EQ(result.elements_worst.at(0).expected, 1);
  EXPECT_GT(result.worst, 1);
}

TEST(JudgedCalls, SayWhyTheyAreNotJudged) {
  EXPECT_EQ(judged("unknown", {}, vector_of({1})).why, "no rule for aten.unknown.default");
  EXPECT_EQ(judged("neg", {}, vector_of({1})).status, JudgedCall::not_judged);
  EXPECT_EQ(judged("exp", {{"self", vector_of({1}, Element::float64)}}, vector_of({1}, Element::float64)).status,
            JudgedCall::not_judged);
  EXPECT_EQ(judged("view", {{"self", vector_of({1})}}, vector_of({1})).status, JudgedCall::nothing_to_hold);
}

TEST(JudgedCalls, DemandNaNWhereItIsCertain) {
  const View x = vector_of({-1}), nan = vector_of({NAN});
  EXPECT_FALSE(judged("log", {{"self", x}}, nan).fails());
  EXPECT_TRUE(judged("log", {{"self", x}}, vector_of({0})).fails());
  EXPECT_TRUE(judged("exp", {{"self", x}}, nan).fails());
}

TEST(JudgedCalls, DemandAnOverflowWhereItIsCertain) {
  const View x = vector_of({2.5e38, 2.5e38});
  const auto running = [&](double last) {
    return judged("cumsum", {{"self", x}, {"dim", 0}}, vector_of({2.5e38, last}));
  };
  EXPECT_FALSE(running(infinite).fails());
  EXPECT_TRUE(running(-infinite).fails() || running(-infinite).results[0].undecided > 0);
  EXPECT_EQ(judged("exp", {{"self", vector_of({100})}}, vector_of({infinite})).results[0].wrong, 0);
  EXPECT_EQ(judged("exp", {{"self", vector_of({100})}}, vector_of({3e38})).results[0].wrong, 1);
}

TEST(JudgedCalls, NameWhatMadeNumbersNonFinite) {
  EXPECT_TRUE(judged("exp", {{"self", vector_of({100})}}, vector_of({infinite})).made_non_finite);
  EXPECT_FALSE(judged("exp", {{"self", vector_of({infinite})}}, vector_of({infinite})).made_non_finite);
  EXPECT_FALSE(judged("exp", {{"self", vector_of({0})}}, vector_of({1})).made_non_finite);
}

/// TF32 stays within the bound of a long sum: its errors are larger than independent roundings leave.
TEST(JudgedCalls, CallLargerErrorsThanRoundingsLeaveImprecise) {
  std::mt19937_64 random(1);
  const std::int64_t k = 4096, n = 6;
  const Numbers a = drawn(n * k, random), b = drawn(n * k, random);
  const auto cut = [](double x) { return rounded_to(Element::float16, static_cast<float>(x)); };
  Floats right, wrong;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0, of_cut = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        const double x = a[static_cast<std::size_t>(i * k + p)], y = b[static_cast<std::size_t>(j * k + p)];
        sum = std::fma(static_cast<float>(x), static_cast<float>(y), sum);
        of_cut = std::fma(cut(x), cut(y), of_cut);
      }
      right.push_back(sum);
      wrong.push_back(of_cut);
    }
  const Arguments arguments{{"self", tensor({n, k}, a)}, {"mat2", tensor({n, k}, b).permuted({1, 0})}};
  const JudgedCall held = judged("mm", arguments, tensor({n, n}, stored(Element::float32, right)));
  const JudgedCall coarse = judged("mm", arguments, tensor({n, n}, stored(Element::float32, wrong)));

  EXPECT_FALSE(held.fails());
  EXPECT_GT(held.results[0].spread, 0);
  EXPECT_EQ(coarse.results[0].wrong, 0);
  EXPECT_TRUE(coarse.results[0].imprecise);
}

/// Equal addends round equally: their errors add up, and no machine is coarse for it.
TEST(JudgedCalls, AreNotImpreciseForSumsOfConstants) {
  const std::int64_t n = 5;
  for (const std::int64_t k : {40, 1000}) {
    const Numbers a(static_cast<std::size_t>(n * k), 0.1f), rows(static_cast<std::size_t>(20 * k), 0.1f);
    float product = 0, sum = 0;
    for (std::int64_t p = 0; p < k; ++p) {
      product = std::fma(0.1f, 0.1f, product);
      sum += 0.1f;
    }
    const Arguments factors{{"self", tensor({n, k}, a)}, {"mat2", tensor({n, k}, a).permuted({1, 0})}};
    const Arguments addends{{"self", tensor({20, k}, rows)}, {"dim", Sizes{1}}};
    EXPECT_FALSE(judged("mm", factors, tensor({n, n}, Numbers(static_cast<std::size_t>(n * n), product))).fails()) << k;
    EXPECT_FALSE(judged("sum", addends, vector_of(Numbers(20, sum))).fails()) << k;
  }
}

TEST(JudgedCalls, AreHeldWholeWherePartsEnd) {
  const std::int64_t n = (1 << 16) + 3;
  Numbers x(static_cast<std::size_t>(n), 0.5), y(static_cast<std::size_t>(n), -0.5);
  EXPECT_FALSE(judged("neg", {{"self", vector_of(x)}}, vector_of(y)).fails());
  y.back() = 0.5;
  EXPECT_EQ(judged("neg", {{"self", vector_of(x)}}, vector_of(y)).results[0].elements_worst.at(0).place,
            (std::vector<std::int64_t>{n - 1}));
  const View rows = tensor({3, 40000}, Numbers(120000, 1.0));  // a row is no divisor of a part
  Numbers uniform(120000, 1.0 / 40000);
  EXPECT_FALSE(judged("_softmax", {{"self", rows}, {"dim", 1}}, tensor({3, 40000}, uniform)).fails());
  uniform[119999] = 0;
  EXPECT_TRUE(judged("_softmax", {{"self", rows}, {"dim", 1}}, tensor({3, 40000}, uniform)).fails());
}

TEST(JudgedCalls, AreNotJudgedWhereNothingIsDecided) {
  const View whole = vector_of({4, 6}, Element::int64);
  const JudgedCall call =
      judged("floor_divide", {{"self", whole}, {"other", vector_of({0, 0}, Element::int64)}}, whole);
  EXPECT_EQ(call.status, JudgedCall::not_judged);
}

TEST(JudgedCalls, AreNotJudgedWithResultsOfOtherSizes) {
  const View x = vector_of({1, 2});
  EXPECT_EQ(judged("add", {{"self", x}, {"other", x}}, tensor({1, 2}, {2, 4})).status, JudgedCall::not_judged);
  EXPECT_EQ(judged("add", {{"self", x}, {"other", x}}, vector_of({2, 4})).status, JudgedCall::held);
}

TEST(JudgedCalls, CallBoundsAsLargeAsTheirValuesVacuous) {
  Numbers x(64, 1e-30);
  x[0] = 1;
  x[1] = -1;
  const JudgedCall call = judged("sum", {{"self", vector_of(x)}}, number_of(0));
  EXPECT_FALSE(call.fails());
  EXPECT_TRUE(call.results[0].vacuous);
}

}  // namespace
}  // namespace tally::judge_call_test
