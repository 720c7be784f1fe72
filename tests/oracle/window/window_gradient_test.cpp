#include <gtest/gtest.h>

#include "oracle/exact/trajectory.hpp"
#include "tests/oracle/real/second_route.hpp"
#include "tests/oracle/window/small_case.hpp"

namespace tally::oracle::window_gradient_test {
namespace {

using Partition = std::vector<std::vector<std::int64_t>>;

/// The mean loss of window w of a case on the full batch, one element of a parameter moved.
Real moved_loss(const Case& c, std::size_t w, const std::string& name, Eigen::Index i, const Real& offset) {
  State<Real> state = initial_state<Real>(c);
  state.slots.at(name).parameter(i) += offset;
  return evaluate_window<Real>(c, w, Branch::full_batch, state).loss;
}

Tensors<Real> gradient_of(const Case& c, Branch branch, unsigned digits) {
  const DigitsScope scope(digits);
  return evaluate_window<Real>(c, 0, branch, initial_state<Real>(c)).grad;
}

/// Holds the first window's gradient against differences of `loss(name, i, offset)`. What changes between two
/// precisions is its own rounding: a bias before batch_norm has the gradient 0, which no precision reaches.
template <class Loss>
void expect_gradient(const Case& c, Branch branch, const Loss& loss) {
  const DigitsScope scope(fine_digits);
  const Tensors<Real> coarse = gradient_of(c, branch, coarse_digits), fine = gradient_of(c, branch, fine_digits);
  ASSERT_FALSE(fine.empty());
  for (const auto& [name, tensor] : fine)
    for (Eigen::Index i = 0; i < tensor.size(); ++i) {
      const Derivative expected = derivative(
          [&, name = name]() -> Line { return [&, name](const Real& offset) { return loss(name, i, offset); }; });
      const Real uncertainty = expected.uncertainty + magnitude(tensor(i) - coarse.at(name)(i));
      EXPECT_LE(uncertainty, informative(expected.value)) << name << "[" << i << "]";
      EXPECT_LE(magnitude(tensor(i) - expected.value), uncertainty)
          << name << "[" << i << "] = " << shown(tensor(i)) << ", differences give " << shown(expected.value);
    }
}

TEST(WindowGradient, IsTheGradientOfTheWindowsMeanLossOnTheFullBatch) {
  const Case c = small_case({{3, 2}}, "micro_batch");

  expect_gradient(c, Branch::full_batch, [&](const std::string& name, Eigen::Index i, const Real& offset) {
    return moved_loss(c, 0, name, i, offset);
  });
}

TEST(WindowGradient, OfAccumulatedMicroBatchesIsThatOfTheirSummedLossesOverAllItems) {
  const Case c = small_case({{3, 2}}, "micro_batch");
  const Case apart = small_case({{3}, {2}}, "micro_batch");  // each micro-batch a window of its own

  expect_gradient(c, Branch::accumulated, [&](const std::string& name, Eigen::Index i, const Real& offset) {
    return (moved_loss(apart, 0, name, i, offset) * 3 + moved_loss(apart, 1, name, i, offset)) / 4;  // one of 2 ignored
  });
}

TEST(WindowGradient, OfMeanOfMeansIsThatOfTheAverageOfTheMicroBatchesMeanLosses) {
  const Case c = small_case({{3, 2}}, "micro_batch", Normalisation::mean_of_means);
  const Case apart = small_case({{3}, {2}}, "micro_batch");

  expect_gradient(c, Branch::accumulated, [&](const std::string& name, Eigen::Index i, const Real& offset) {
    return (moved_loss(apart, 0, name, i, offset) + moved_loss(apart, 1, name, i, offset)) / 2;
  });
}

TEST(WindowGradient, OfSumIsThatOfTheSummedLosses) {
  const Case c = small_case({{3, 2}}, "window", Normalisation::sum);

  expect_gradient(c, Branch::accumulated, [&](const std::string& name, Eigen::Index i, const Real& offset) {
    return moved_loss(c, 0, name, i, offset) * 4;
  });
}

TEST(WindowGradient, AgreesInLongDoubleUpToTheRoundingOfItsOperations) {
  const DigitsScope scope(coarse_digits);
  const Case c = small_case({{3, 2}}, "micro_batch");
  const Tensors<Real> exact = gradient_of(c, Branch::accumulated, coarse_digits);
  const auto wide = evaluate_window<long double>(c, 0, Branch::accumulated, initial_state<long double>(c)).grad;
  // batch_norm amplifies a rounding by at most |x|² / eps; every other layer of the model by less than its fan-in.
  const Real unit = power(Real(0.5), 64) * 4 * Real(1e5);

  ASSERT_FALSE(wide.empty());
  for (const auto& [name, tensor] : wide) {
    Real largest = 0;
    for (Eigen::Index i = 0; i < tensor.size(); ++i) largest = std::max(largest, magnitude(exact.at(name)(i)));
    for (Eigen::Index i = 0; i < tensor.size(); ++i)
      EXPECT_LE(magnitude(Real(tensor(i)) - exact.at(name)(i)), unit * (1 + largest)) << name << "[" << i << "]";
  }
}

}  // namespace
}  // namespace tally::oracle::window_gradient_test
