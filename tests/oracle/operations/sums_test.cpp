#include "oracle/operations/products.hpp"
#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations::sums_test {
namespace {

constexpr std::int64_t rows = 3;

/// f(row, order) of each of the rows.
template <class F>
Numbers each_row(Element element, const Numbers& x, std::int64_t n, F f) {
  Floats all;
  for (std::int64_t r = 0; r < rows; ++r) all.push_back(f(Floats(x.begin() + r * n, x.begin() + (r + 1) * n)));
  return stored(element, all);
}

TEST(SumRules, HoldSumsAndMeansInAnyOrder) {
  std::mt19937_64 random(1);
  Held sums, means;
  for (const Element element : formats)
    for (const Data data : kinds)
      for (const std::int64_t n : {1, 2, 7, 64, 300})
        for (const Order order : orders) {
          const Numbers x = drawn(data, rows * n, element, random);
          const View self = tensor({rows, n}, x, element);
          const auto sum = [&](Floats row) { return added_up(std::move(row), order, random); };
          const auto by_quotient = [&](Floats row) { return sum(std::move(row)) / static_cast<float>(n); };
          const auto by_product = [&](Floats row) { return sum(std::move(row)) * (1.0f / static_cast<float>(n)); };
          const Arguments arguments{{"self", self}, {"dim", Sizes{-1}}};
          sums.add(call_of("sum", arguments, {tensor({rows}, each_row(element, x, n, sum), element)}));
          means.add(call_of("mean", arguments, {tensor({rows}, each_row(element, x, n, by_quotient), element)}));
          means.add(call_of("mean", arguments, {tensor({rows}, each_row(element, x, n, by_product), element)}));
        }
  sums.report("sum");
  means.report("mean");
}

TEST(SumRules, AreReachedByOnesThatAreLost) {
  for (const std::int64_t n : {2, 65, 1025}) {
    Numbers x(static_cast<std::size_t>(n), 1.0);
    x[0] = 0x1p24;
    const double all = std::accumulate(x.begin(), x.end(), 0.0), lost = 0x1p24;

    const Standing standing = standing_of(call_of("sum", {{"self", vector_of(x)}}, {number_of(lost)}));

    EXPECT_EQ(standing.wrong, 0) << standing.first;
    EXPECT_GT(standing.r, 0.99);
    expect_caught(call_of("sum", {{"self", vector_of(x)}}, {number_of(2 * lost - all - static_cast<double>(n))}));
  }
}

TEST(SumRules, HoldNormsAndRunningSums) {
  std::mt19937_64 random(2);
  Held norms, runnings;
  for (const Element element : formats)
    for (const Data data : kinds)
      for (const std::int64_t n : {1, 33, 200})
        for (const Order order : orders) {
          const Numbers x = drawn(data, rows * n, element, random);
          const View self = tensor({rows, n}, x, element);
          for (const double p : {1.0, 2.0, infinite, -infinite}) {
            const auto norm = [&](Floats row) {
              for (float& each : row) each = p == 2 ? each * each : std::fabs(each);
              if (p == 2) return std::sqrt(added_up(row, order, random));
              if (p == 1) return added_up(row, order, random);
              return p > 0 ? *std::max_element(row.begin(), row.end()) : *std::min_element(row.begin(), row.end());
            };
            norms.add(call_of("linalg_vector_norm", {{"self", self}, {"ord", p}, {"dim", Sizes{1}}},
                              {tensor({rows}, each_row(element, x, n, norm), element)}));
          }
          Floats sums;  // of columns: the first dimension
          for (std::int64_t i = 0; i < rows * n; ++i) {
            Floats before;
            for (std::int64_t k = i % n; k <= i; k += n)
              before.push_back(static_cast<float>(x[static_cast<std::size_t>(k)]));
            sums.push_back(added_up(before, order, random));
          }
          runnings.add(
              call_of("cumsum", {{"self", self}, {"dim", 0}}, {tensor({rows, n}, stored(element, sums), element)}));
        }
  norms.report("linalg_vector_norm");
  runnings.report("cumsum");
}

TEST(SumRules, DemandWholeNumbersToTheBit) {
  const View x = tensor({2, 3}, {1, 2, 3, -4, 5, 6}, Element::int64);
  const Arguments arguments{{"self", x}, {"dim", Sizes{1}}};

  EXPECT_EQ(standing_of(call_of("sum", arguments, {vector_of({6, 7}, Element::int64)})).wrong, 0);
  EXPECT_EQ(standing_of(call_of("sum", arguments, {vector_of({6, 8}, Element::int64)})).wrong, 1);
  const View floats = vector_of({1, 2, 3, 0x1p23});
  EXPECT_EQ(standing_of(call_of("sum", {{"self", floats}}, {number_of(0x1p23 + 6)})).wrong, 0);
  EXPECT_EQ(standing_of(call_of("sum", {{"self", floats}}, {number_of(0x1p23 + 5)})).wrong, 1) << "all sums are exact";
}

/// binary64 loses what int64 keeps: nothing is said of such sums.
TEST(SumRules, LeaveWholeNumbersBeyondBinary64Undecided) {
  const View x = vector_of({0x1p60, 1, -0x1p60}, Element::int64);

  EXPECT_EQ(standing_of(call_of("sum", {{"self", x}}, {number_of(1, Element::int64)})).undecided, 1);
}

/// A cast to fp32 comes before the sum.
TEST(SumRules, RoundWhatIsCastBeforeItIsAdded) {
  const View x = vector_of({0x1p24 + 1, 1}, Element::int64);

  const Standing standing = standing_of(call_of("sum", {{"self", x}}, {number_of(0x1p24)}));

  EXPECT_EQ(standing.wrong, 0) << standing.first;
}

TEST(SumRules, SeeWrongSums) {
  std::mt19937_64 random(3);
  for (int draw = 0; draw < 20; ++draw) {
    const std::int64_t n = 64;
    const Numbers x = drawn(n, random);
    const Arguments arguments{{"self", vector_of(x)}};
    float brain = 0, most = 0, sum = 0, squares = 0;
    for (const double each : x) {
      brain = rounded_to(Element::bfloat16, brain + static_cast<float>(each));
      sum += static_cast<float>(each);
      most = std::max(most, std::fabs(static_cast<float>(each)));
      squares += static_cast<float>(each * each);
    }
    expect_caught(call_of("sum", arguments, {number_of(brain)}));
    expect_caught(call_of("sum", arguments, {number_of(sum - x.back())}));          // a dropped tail
    expect_caught(call_of("mean", arguments, {number_of(sum / (n - 1))}));          // another divisor
    expect_caught(call_of("linalg_vector_norm", arguments, {number_of(squares)}));  // without its root
    expect_caught(call_of("linalg_vector_norm", {{"self", vector_of(x)}, {"ord", infinite}}, {number_of(most / 2)}));
    Numbers running{x[0]};
    for (std::size_t i = 1; i < x.size(); ++i) running.push_back(running.back() + x[i]);
    running.insert(running.begin(), 0.0);  // without the element itself
    running.pop_back();
    expect_caught(call_of("cumsum", {{"self", vector_of(x)}, {"dim", 0}}, {vector_of(running)}));
  }
}

TEST(SumRules, HoldTensorsOfOneElementAndOfNone) {
  const View one = number_of(3), none = tensor({2, 0}, {});
  for (const int dim : {0, -1}) {
    const Arguments arguments{{"self", one}, {"dim", Sizes{dim}}};
    for (const char* name : {"sum", "mean", "linalg_vector_norm", "amax"})
      EXPECT_EQ(standing_of(call_of(name, arguments, {number_of(3)})).wrong, 0) << name;
  }
  EXPECT_EQ(standing_of(call_of("cumsum", {{"self", one}, {"dim", 0}}, {number_of(3)})).wrong, 0);
  EXPECT_EQ(standing_of(call_of("sum", {{"self", none}, {"dim", Sizes{1}}}, {vector_of({0, 0})})).wrong, 0);
  EXPECT_EQ(standing_of(call_of("sum", {{"self", none}, {"dim", Sizes{1}}}, {vector_of({0, 1})})).wrong, 1);
  EXPECT_EQ(standing_of(call_of("sum", {{"self", none}, {"dim", Sizes{0}}}, {tensor({0}, {})})).elements, 0);
  EXPECT_THROW(standing_of(call_of("amax", {{"self", none}}, {number_of(0)})), NotJudged);
}

TEST(SumRules, DoNotJudgeResultsOfOtherSizes) {
  const View x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const char* name : {"sum", "mean", "linalg_vector_norm", "amax", "argmax", "any"})
    EXPECT_THROW(standing_of(call_of(name, {{"self", x}, {"dim", Sizes{1}}}, {vector_of({1, 2, 3})})), NotJudged)
        << name;
  EXPECT_THROW(standing_of(call_of("cumsum", {{"self", x}, {"dim", 1}}, {vector_of({1, 2, 3})})), NotJudged);
}

}  // namespace
}  // namespace tally::oracle::operations::sums_test
