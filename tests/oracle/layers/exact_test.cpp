#include "oracle/exact/exact.hpp"

#include <gtest/gtest.h>

#include <set>

#include "oracle/case/contract.hpp"
#include "tests/oracle/layers/layer_variants.hpp"
#include "tests/oracle/real/second_route.hpp"

namespace tally::oracle::exact_test {
namespace {

class EveryExactLayer : public testing::TestWithParam<LayerVariant> {};

/// The gradients of <dy, y>, dx under the name "x".
template <class T>
Tensors<T> gradients(const LayerVariant& v) {
  const Tensors<T> tensors = as<T>(v.tensors);
  BackwardResult<T> back =
      exact_layer<T>(v.layer.kind).backward({v.layer, tensors, v.cut}, v.x.template cast<T>(), v.dy.template cast<T>());
  back.parameters["x"] = std::move(back.dx);
  return back.parameters;
}

/// <dy, y> as a function of an offset of one element of x or of a parameter.
Line inner_product(const LayerVariant& v, const std::string& name, Eigen::Index i) {
  return [&v, name, i](const Real& offset) {
    Tensors<Real> tensors = as<Real>(v.tensors);
    Matrix<Real> x = v.x.cast<Real>();
    (name == "x" ? x : tensors.at(name))(i) += offset;
    const Matrix<Real> y = exact_layer<Real>(v.layer.kind).forward({v.layer, tensors, v.cut}, x).y;
    Real sum = 0;
    for (Eigen::Index e = 0; e < y.size(); ++e) sum += y(e) * Real(v.dy(e));
    return sum;
  };
}

TEST_P(EveryExactLayer, HasTheGradientThatDifferencesOfItsForwardGive) {
  const LayerVariant v = GetParam();
  const DigitsScope scope(fine_digits);

  const Tensors<Real> exact = gradients<Real>(v);
  ASSERT_EQ(exact.at("x").size(), v.x.size());
  for (const auto& [name, gradient] : exact)
    for (Eigen::Index i = 0; i < gradient.size(); ++i) {
      const Derivative expected = derivative([&, name = name] { return inner_product(v, name, i); });
      EXPECT_LE(expected.uncertainty, informative(expected.value)) << name << "[" << i << "]";
      EXPECT_LE(magnitude(gradient(i) - expected.value), expected.uncertainty)
          << name << "[" << i << "] = " << shown(gradient(i)) << ", differences give " << shown(expected.value);
    }
}

TEST_P(EveryExactLayer, GivesAGradientForExactlyTheParametersItHas) {
  const LayerVariant v = GetParam();
  const DigitsScope scope(coarse_digits);
  std::set<std::string> expected{"x"}, found;

  for (const auto& [name, tensor] : v.tensors)
    if (name == "weight" || name == "bias") expected.insert(name);
  for (const auto& [name, tensor] : gradients<Real>(v)) found.insert(name);

  EXPECT_EQ(found, expected);
}

/// How far an error in the statistics can grow: |x|² / var, largest over all groups; 1 without batch statistics.
long double condition(const LayerVariant& v) {
  const ForwardResult<long double> result =
      exact_layer<long double>(v.layer.kind)
          .forward({v.layer, as<long double>(v.tensors), v.cut}, v.x.cast<long double>());
  if (result.var.size() == 0) return 1;
  const long double largest = v.x.cwiseAbs().maxCoeff();
  return std::max(1.0L, largest * largest / result.var.minCoeff());
}

TEST_P(EveryExactLayer, AgreesInLongDoubleUpToTheRoundingOfItsOperations) {
  const LayerVariant v = GetParam();
  const DigitsScope scope(coarse_digits);
  const Tensors<Real> exact = gradients<Real>(v);
  // An element passes through three sums over a row or a column and the products of the formulas in between: below
  // eight roundings for each addend, each of 2^-64 of the largest term.
  const auto roundings = static_cast<long double>(8 * (v.x.rows() + v.x.cols()));
  const Real unit = Real(roundings * condition(v)) * power(Real(0.5), 64);

  const Tensors<long double> wide = gradients<long double>(v);
  ASSERT_EQ(wide.at("x").size(), v.x.size());
  for (const auto& [name, gradient] : wide) {
    const Matrix<Real>& expected = exact.at(name);
    Real largest = 0;
    for (Eigen::Index i = 0; i < expected.size(); ++i) largest = std::max(largest, magnitude(expected(i)));
    for (Eigen::Index i = 0; i < gradient.size(); ++i)
      EXPECT_LE(magnitude(Real(gradient(i)) - expected(i)), unit * largest) << name << "[" << i << "]";
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, EveryExactLayer, testing::ValuesIn(layer_variants()),
                         [](const auto& test) { return test.param.name; });

TEST(ExactLayers, AreTestedForEveryContract) {
  std::set<std::string> tested, promised;

  for (const LayerVariant& v : layer_variants()) tested.insert(v.layer.kind);
  for (const Contract* contract : drawn_contracts_of("layer")) promised.insert(contract->kind);

  EXPECT_EQ(tested, promised);
}

TEST(ExactLayers, RefuseAKindWithoutMathematics) {
  EXPECT_THROW(exact_layer<Real>("convolution"), std::logic_error);
  EXPECT_THROW(exact_loss<long double>("hinge"), std::logic_error);
}

}  // namespace
}  // namespace tally::oracle::exact_test
