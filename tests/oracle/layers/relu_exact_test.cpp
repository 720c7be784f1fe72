#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/oracle/layers/layer_variants.hpp"

namespace tally::oracle::relu_exact_test {
namespace {

using Row = Matrix<long double>;

Row row(std::initializer_list<long double> values) {
  Row result(1, static_cast<Eigen::Index>(values.size()));
  Eigen::Index i = 0;
  for (const long double value : values) result(i++) = value;
  return result;
}

const Layer layer = layer_of("relu");
const Tensors<long double> none;

TEST(ExactRelu, HasTheDerivativeZeroAtZero) {
  const auto back = exact_layer<long double>("relu").backward({layer, none, {1}}, row({0, -1, 1}), row({7, 7, 7}));

  EXPECT_EQ(back.dx, row({0, 0, 7}));
}

TEST(ExactRelu, PassesNanOn) {
  const long double nan = std::numeric_limits<long double>::quiet_NaN();
  const auto y = exact_layer<long double>("relu").forward({layer, none, {1}}, row({nan, -1})).y;

  EXPECT_TRUE(std::isnan(y(0)));
  EXPECT_EQ(y(1), 0);
}

TEST(ExactRelu, ReplaysTheDecisionsItIsGiven) {
  const Decisions decisions{Matrix<double>(row({1, 0}).cast<double>())};
  const Pass<long double> pass{layer, none, {1}, decisions};

  EXPECT_EQ(exact_layer<long double>("relu").forward(pass, row({-2, 3})).y, row({-2, 0}));
  EXPECT_EQ(exact_layer<long double>("relu").backward(pass, row({-2, 3}), row({5, 5})).dx, row({5, 0}));
}

}  // namespace
}  // namespace tally::oracle::relu_exact_test
