#include <gtest/gtest.h>

#include <set>

#include "oracle/case/contract.hpp"
#include "oracle/exact/exact.hpp"
#include "tests/oracle/real/drawn.hpp"
#include "tests/oracle/real/second_route.hpp"

namespace tally::oracle::exact_loss_test {
namespace {

struct LossVariant {
  std::string name;
  Choice loss;
  Matrix<double> y, target, item_weight, row_factor;
};

Matrix<double> row(std::initializer_list<double> values) {
  Matrix<double> result(1, static_cast<Eigen::Index>(values.size()));
  Eigen::Index i = 0;
  for (const double value : values) result(i++) = value;
  return result;
}

LossVariant cross_entropy(std::string name, const char* smoothing, std::vector<Decimal> weights = {}) {
  return {std::move(name),
          {"cross_entropy",
           {{"ignore_index", std::int64_t{-100}}, {"label_smoothing", Decimal{smoothing}}, {"weight", weights}}},
          drawn(4, 3, 41),
          row({0, 2, -100, 1}),
          row({1, 1, 0, 1}),
          drawn(1, 4, 42)};
}

std::vector<LossVariant> loss_variants() {
  const std::vector<Decimal> weights{{"0.5"}, {"2"}, {"0.3"}};
  return {
      cross_entropy("cross_entropy", "0"),
      cross_entropy("cross_entropy_smoothed", "0.1"),
      cross_entropy("cross_entropy_weighted", "0", weights),
      cross_entropy("cross_entropy_smoothed_and_weighted", "0.1", weights),
      cross_entropy("cross_entropy_fully_smoothed", "1", weights),
      {"mse", {"mse", {{"item_weights", true}}}, drawn(4, 3, 43), drawn(4, 3, 44), row({1, 0, 3, 2}), drawn(1, 4, 45)}};
}

template <class T>
LossResult<T> evaluate(const LossVariant& v, const Matrix<T>& y) {
  return exact_loss<T>(v.loss.kind)
      .evaluate(v.loss, y, v.target.template cast<T>(), v.item_weight.template cast<T>(),
                v.row_factor.template cast<T>());
}

class EveryExactLoss : public testing::TestWithParam<LossVariant> {};

TEST_P(EveryExactLoss, HasTheGradientThatDifferencesOfItsValueGive) {
  const LossVariant v = GetParam();
  const DigitsScope scope(fine_digits);
  const Matrix<Real> dy = evaluate<Real>(v, v.y.cast<Real>()).dy;

  ASSERT_EQ(dy.size(), v.y.size());
  for (Eigen::Index i = 0; i < dy.size(); ++i) {
    const Derivative expected = derivative([&]() -> Line {
      return [&](const Real& offset) {
        Matrix<Real> y = v.y.cast<Real>();
        y(i) += offset;
        const Matrix<Real> loss = evaluate<Real>(v, y).loss;
        Real sum = 0;
        for (Eigen::Index r = 0; r < loss.size(); ++r) sum += loss(r) * Real(v.row_factor(r));
        return sum;
      };
    });
    EXPECT_LE(expected.uncertainty, informative(expected.value)) << i;
    EXPECT_LE(magnitude(dy(i) - expected.value), expected.uncertainty)
        << i << ": " << shown(dy(i)) << ", differences give " << shown(expected.value);
  }
}

TEST_P(EveryExactLoss, AgreesInLongDoubleUpToTheRoundingOfItsOperations) {
  const LossVariant v = GetParam();
  const DigitsScope scope(coarse_digits);
  const LossResult<Real> exact = evaluate<Real>(v, v.y.cast<Real>());
  const LossResult<long double> wide = evaluate<long double>(v, v.y.cast<long double>());
  // One sum over the classes and the operations of the formula, below eight for each class, of 2^-64 of terms that
  // stay below the largest weight, factor and |y| squared.
  const Real unit = Real(8 * static_cast<double>(v.y.cols())) * power(Real(0.5), 64);
  const Real largest = Real(v.y.cwiseAbs().maxCoeff() * v.y.cwiseAbs().maxCoeff()) * Real(3);

  ASSERT_EQ(exact.dy.size(), v.y.size());
  for (Eigen::Index r = 0; r < exact.loss.size(); ++r)
    EXPECT_LE(magnitude(Real(wide.loss(r)) - exact.loss(r)), unit * largest) << r;
  for (Eigen::Index i = 0; i < exact.dy.size(); ++i)
    EXPECT_LE(magnitude(Real(wide.dy(i)) - exact.dy(i)), unit * largest * 2) << i;
}

INSTANTIATE_TEST_SUITE_P(Losses, EveryExactLoss, testing::ValuesIn(loss_variants()),
                         [](const auto& test) { return test.param.name; });

TEST(ExactLosses, AreTestedForEveryContract) {
  std::set<std::string> tested, promised;

  for (const LossVariant& v : loss_variants()) tested.insert(v.loss.kind);
  for (const Contract* contract : drawn_contracts_of("loss")) promised.insert(contract->kind);

  EXPECT_EQ(tested, promised);
}

TEST(ExactCrossEntropy, OfEqualLogitsIsTheLogarithmOfTheClasses) {
  const DigitsScope scope(coarse_digits);
  LossVariant v = cross_entropy("", "0.1");
  v.y.setZero();

  const Matrix<Real> loss = evaluate<Real>(v, v.y.cast<Real>()).loss;

  EXPECT_LE(magnitude(exp(loss(0)) - 3), power(Real(10), 2) / power(Real(10), coarse_digits));
  EXPECT_EQ(loss(2), 0);  // ignored
}

TEST(ExactCrossEntropy, KeepsTheGradientOfAnAllButCertainTarget) {
  const DigitsScope scope(coarse_digits);
  LossVariant v = cross_entropy("", "0");
  v.y.setZero();
  v.y(0, 0) = 1000;  // the target's own probability is 1 - 2 e^-1000, nearer to 1 than 100 digits can tell
  v.row_factor.setOnes();

  const LossResult<Real> result = evaluate<Real>(v, v.y.cast<Real>());

  const Real other = exp(Real(-1000)), few = power(Real(10), 2) / power(Real(10), coarse_digits);
  EXPECT_LE(magnitude(result.loss(0) / (2 * other) - 1), few);
  EXPECT_LE(magnitude(result.dy(0, 0) / (-2 * other) - 1), few);
}

}  // namespace
}  // namespace tally::oracle::exact_loss_test
