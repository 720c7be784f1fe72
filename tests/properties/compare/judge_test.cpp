#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "oracle/tolerance/predicted_bits.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/verdict.hpp"

namespace tally::judge_test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
const Place here{"local", "w0/norm/norm", "norm"};

Tensor fp32(std::initializer_list<double> values, Dtype dtype = Dtype::fp32) {
  Tensor tensor(dtype, {static_cast<std::int64_t>(values.size())});
  std::size_t i = 0;
  for (const double value : values) tensor.set(i++, value);
  return tensor;
}

oracle::Expected expected(std::initializer_list<double> v, std::initializer_list<double> e) {
  const auto n = static_cast<Eigen::Index>(v.size());
  oracle::Expected x{oracle::Matrix<long double>(1, n), oracle::Matrix<double>(1, n)};
  std::copy(v.begin(), v.end(), x.v.data());
  std::copy(e.begin(), e.end(), x.e.data());
  return x;
}

TEST(Judge, AcceptsAnErrorEqualToTheBoundAndNothingMore) {
  EXPECT_EQ(judge(here, expected({1, 4}, {0.5, 0.25}), fp32({1.5, 4})).status, Status::pass);
  const TensorCheck over = judge(here, expected({1, 4}, {0.5, 0.25}), fp32({1.5, 4.5}));
  EXPECT_EQ(over.status, Status::fail);
  EXPECT_EQ(over.failure, FailureClass::logic);
  EXPECT_EQ(over.over_bound, 1u);
  EXPECT_EQ(over.differing, 2u);
  EXPECT_EQ(over.worst_ratio, 2);
  EXPECT_EQ(over.worst_index, std::vector<std::int64_t>{1});
  EXPECT_EQ(over.got, 4.5);
  EXPECT_EQ(over.bound, 0.25);
}

TEST(Judge, TakesPlusAndMinusZeroAsOneValueAndAnyOtherBitAsInfinitelyWrong) {
  EXPECT_EQ(judge(here, expected({0, 1}, {0, 0}), fp32({-0.0, 1})).status, Status::pass);
  const TensorCheck off = judge(here, expected({1, 1}, {0, 0}), fp32({1, 1 + 0x1p-23}));
  EXPECT_EQ(off.status, Status::fail);
  EXPECT_EQ(off.worst_ratio, infinite);
}

/// Half an ulp of 1 in fp32 is 2^-24. A bound of three of them, of which two are used, is half used beyond the last.
TEST(Judge, TellsWhatIsUsedOfABoundBeyondItsLastRounding) {
  constexpr double u = 0x1p-24;
  const TensorCheck used = judge(here, expected({1}, {3 * u}), fp32({1 + 2 * u}));
  EXPECT_EQ(used.excess, 0.5);
  EXPECT_EQ(used.roundings, 3);
  const TensorCheck rounded = judge(here, expected({1 + u, 1}, {u, u}), fp32({1, 1}));
  EXPECT_EQ(rounded.worst_ratio, 1);
  EXPECT_EQ(rounded.excess, 0);
  EXPECT_EQ(rounded.roundings, 1);
  EXPECT_EQ(judge(here, expected({1}, {2.5 * u}), fp32({1 + 2 * u})).excess, 2.0 / 3);
  EXPECT_EQ(judge(here, expected({1}, {2 * u}), fp32({1 + 2 * u})).excess, 0) << "one value alone is right";
  EXPECT_EQ(judge(here, expected({1 - 0.75 * u}, {1.9 * u}), fp32({1 + u})).excess, 0)
      << "no room for a second rounding";
  EXPECT_EQ(judge(here, expected({1}, {u / 2}), fp32({1 + 2 * u})).excess, 4);  // broken: its r
  EXPECT_EQ(
      judge(here, expected({1, 1, 1, 1}, {2 * u, 3 * u, 5 * u, 9 * u}), fp32({1, 1, 1 + 2 * u, 1 + 8 * u})).excess,
      7.0 / 8);  // the largest of several, wherever it stands
}

TEST(Judge, NeverPassesANanWhereAFiniteValueIsExpected) {
  const TensorCheck check = judge(here, expected({1, 1}, {0.5, 100}), fp32({1, std::nan("")}));
  EXPECT_EQ(check.status, Status::fail);
  EXPECT_EQ(check.failure, FailureClass::non_finite);
  EXPECT_EQ(check.non_finite, 1u);
  EXPECT_EQ(check.worst_index, std::vector<std::int64_t>{1});
}

TEST(Judge, DemandsANonFiniteElementWhereItIsCertain) {
  const oracle::Expected nan = expected({std::nan(""), 1}, {0, 0});
  EXPECT_EQ(judge(here, nan, fp32({infinite, 1})).status, Status::pass);
  EXPECT_EQ(judge(here, nan, fp32({std::nan(""), 1})).status, Status::pass);
  EXPECT_EQ(judge(here, nan, fp32({7, 1})).status, Status::fail);
}

TEST(Judge, KnowsTheBandInWhichAnOverflowIsLegal) {
  const auto half = [](double v, double e, double got) {
    return judge(here, expected({v, 1}, {e, 0}), fp32({got, 1}, Dtype::fp16)).status;
  };
  EXPECT_EQ(half(65500, 32, infinite), Status::pass);
  EXPECT_EQ(half(65500, 32, 65504), Status::pass);
  EXPECT_EQ(half(65500, 32, -infinite), Status::fail);
  EXPECT_EQ(half(65000, 32, infinite), Status::fail);
  EXPECT_EQ(half(70000, 5000, 65504), Status::pass);
  EXPECT_EQ(half(70000, 1000, 65504), Status::fail);
}

TEST(Judge, CallsATensorVacuousWhoseBoundExceedsItsSignal) {
  const TensorCheck check = judge(here, expected({1, 0.5}, {1, 1}), fp32({1, 1}));
  EXPECT_EQ(check.status, Status::vacuous);
  EXPECT_EQ(check.uninformative, 2u);
  EXPECT_EQ(judge(here, expected({1, 0.5}, {1, 1}), fp32({1, 2})).status, Status::fail);
}

TEST(Judge, NeverPassesAnUndecidedElement) {
  const TensorCheck check = judge(here, expected({1, 100}, {infinite, 0}), fp32({3, 100}));
  EXPECT_EQ(check.status, Status::vacuous);
  EXPECT_EQ(check.uninformative, 1u);
  EXPECT_EQ(judge(here, expected({1, 100}, {infinite, 0}), fp32({3, 101})).status, Status::fail);
}

TEST(Judge, JudgesATensorThatIsZeroThroughoutAgainstItsBound) {
  const TensorCheck zero = judge(here, expected({0, 1e-20}, {1e-7, 1e-7}), fp32({1e-8, -1e-8}));
  EXPECT_EQ(zero.status, Status::pass);
  EXPECT_TRUE(zero.zero_signal);
  EXPECT_EQ(judge(here, expected({0, 0}, {1e-7, 1e-7}), fp32({1e-6, 0})).status, Status::fail);
  EXPECT_FALSE(judge(here, expected({0, 1}, {0, 0}), fp32({0, 1})).zero_signal);
}

TEST(Judge, NeverCallsAZeroSignalWhatItCannotTell) {
  EXPECT_FALSE(judge(here, expected({0, 0}, {0, infinite}), fp32({0, 0})).zero_signal);
  EXPECT_FALSE(judge(here, expected({1, 2}, {infinite, infinite}), fp32({1, 2})).zero_signal);
  // A bound that is wide makes no zero of a signal as long as the subject's own value.
  const TensorCheck wide = judge(here, expected({1, 2}, {1e12, 1e12}), fp32({1, 2.5}));
  EXPECT_FALSE(wide.zero_signal);
  EXPECT_EQ(wide.status, Status::vacuous);
}

TEST(Judge, ComparesIntegersExactlyBeyondWhatADoubleHolds) {
  const auto held = [](std::int64_t wanted, std::int64_t got) {
    Tensor tensor(Dtype::i64, {1});
    tensor.set_bits(0, static_cast<std::uint64_t>(got));
    oracle::Expected x{oracle::Matrix<long double>(1, 1), oracle::Matrix<double>::Zero(1, 1)};
    x.v(0, 0) = static_cast<long double>(wanted);
    return judge(here, x, tensor);
  };
  for (const std::int64_t count : {(std::int64_t{1} << 53) + 1, std::numeric_limits<std::int64_t>::max(),
                                   std::numeric_limits<std::int64_t>::min() + 1}) {
    EXPECT_EQ(held(count, count).status, Status::pass) << count;
    EXPECT_EQ(held(count, count).differing, 0u) << count;
    const TensorCheck off = held(count, count - 1);
    EXPECT_EQ(off.status, Status::fail) << count;
    EXPECT_EQ(off.differing, 1u) << count;
    EXPECT_EQ(off.error, 1) << count;
  }
}

TEST(Judge, FailsATensorOfAnotherSize) {
  EXPECT_EQ(judge(here, expected({1, 2}, {1, 1}), fp32({1})).status, Status::fail);
}

TEST(BitwiseCheck, ComparesBitsWithOneZeroAndOneNan) {
  const Tensor a = fp32({0, 1, std::nan("")});
  EXPECT_EQ(bitwise_check("t", "norm", a, fp32({-0.0, 1, std::nan("1")})).status, Status::pass);
  const TensorCheck off = bitwise_check("t", "norm", a, fp32({0, 1 + 0x1p-23, std::nan("")}));
  EXPECT_EQ(off.status, Status::fail);
  EXPECT_EQ(off.differing, 1u);
  EXPECT_EQ(off.worst_index, std::vector<std::int64_t>{1});
  EXPECT_EQ(bitwise_check("t", "norm", a, fp32({0, 1})).status, Status::fail);
}

TEST(FirstFailure, IsTheFirstThatFailsAndNotTheWorst) {
  std::vector<TensorCheck> checks(3);
  EXPECT_EQ(first_failure(checks), nullptr);
  checks[1].status = checks[2].status = Status::fail;
  checks[2].worst_ratio = 9;
  EXPECT_EQ(first_failure(checks), &checks[1]);
}

oracle::Matrix<float> floats(std::initializer_list<float> values) {
  oracle::Matrix<float> bits(1, static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), bits.data());
  return bits;
}

/// Every figure that a record keeps.
void expect_same(const TensorCheck& a, const TensorCheck& b) {
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.failure, b.failure);
  EXPECT_EQ(a.zero_signal, b.zero_signal);
  EXPECT_EQ(std::tuple(a.lens, a.tap, a.stage, a.elements, a.differing, a.over_bound, a.non_finite, a.uninformative),
            std::tuple(b.lens, b.tap, b.stage, b.elements, b.differing, b.over_bound, b.non_finite, b.uninformative));
  EXPECT_EQ(std::tuple(a.worst_ratio, a.excess, a.roundings, a.worst_index, a.expected, a.error, a.bound),
            std::tuple(b.worst_ratio, b.excess, b.roundings, b.worst_index, b.expected, b.error, b.bound));
  EXPECT_EQ(std::tuple(a.norm_expected, a.norm_error, a.norm_bound),
            std::tuple(b.norm_expected, b.norm_error, b.norm_bound));
}

TEST(Judge, SaysTheSameOfKnownFloatsHoweverTheyAreHandedOver) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (const auto& known : {floats({}), floats({0}), floats({0, 0}), floats({-0.0F, 1}), floats({1.5F, -3, 0.25F}),
                              floats({1, inf}), floats({-inf, 2})}) {
      for (const auto& got : {fp32({}, dtype), fp32({0}, dtype), fp32({0, 0}, dtype), fp32({0, 1}, dtype),
                              fp32({1.5, -3, 0.25}, dtype), fp32({1, INFINITY}, dtype), fp32({1.5, -3, 0.5}, dtype)}) {
        if (static_cast<std::size_t>(known.size()) != got.elements()) continue;
        expect_same(judge_bits(here, known, got), judge_bits(here, oracle::known(known), got));
      }
    }
  }
}

}  // namespace
}  // namespace tally::judge_test
