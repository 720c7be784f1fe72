// SiLU: its definition, its slope, and its rule against the kernel's formula in floats.
#include "tests/oracle/layers/activation_emulation.hpp"
#include "tests/oracle/layers/layer_variants.hpp"

namespace tally::oracle::silu_test {
namespace {

using emulation::Activation;
using emulation::sigmoid_of;
using emulation::Subject;

Matrix<long double> at(const std::vector<long double>& x) {
  return Eigen::Map<const Matrix<long double>>(x.data(), 1, static_cast<Eigen::Index>(x.size()));
}

TEST(Silu, IsItsInputTimesItsLogisticFunction) {
  const LayerVariant v = variant("silu", layer_of("silu"), {});
  const Pass<long double> pass{v.layer, {}, {1}};
  const Matrix<long double> x = at({0, 1, -1, 3, 20000, -20000}), ones = Matrix<long double>::Ones(1, 6);
  const Matrix<long double> y = exact_layer<long double>("silu").forward(pass, x).y;
  const Matrix<long double> slope = exact_layer<long double>("silu").backward(pass, x, ones).dx;
  const auto near = [](long double a, long double b) {
    return std::fabs(a - b) <= 8 * std::numeric_limits<long double>::epsilon();
  };
  EXPECT_EQ(y(0), 0);
  EXPECT_EQ(slope(0), 0.5L);
  for (Eigen::Index i = 1; i < 4; ++i) {
    const long double s = 1 / (1 + std::exp(-x(i)));
    EXPECT_TRUE(near(y(i), x(i) * s)) << x(i);
    EXPECT_TRUE(near(slope(i), s * (1 + x(i) * (1 - s)))) << x(i);
  }
  EXPECT_EQ(y(4), 20000);
  EXPECT_EQ(slope(4), 1);
  EXPECT_EQ(y(5), 0);
  EXPECT_EQ(slope(5), 0);
}

class SiluBound : public testing::TestWithParam<Dtype> {};

TEST_P(SiluBound, HoldsForwardAndBackwardFromTinyToSaturated) {
  emulation::expect_bound({"silu",
                           "silu",
                           {},
                           [](Subject& s, float x) { return x * sigmoid_of(s, x); },
                           [](Subject& s, float x, float dy) {
                             const float y = sigmoid_of(s, x);
                             return dy * (y * (1.0f + x * (1.0f - y)));
                           },
                           [](Subject& s, float x) { return x * sigmoid_of(s, 1.702f * x); }},
                          GetParam());
}

INSTANTIATE_TEST_SUITE_P(Formats, SiluBound, testing::ValuesIn(emulation::storages),
                         [](const auto& drawn) { return std::string(name_of(drawn.param)); });

}  // namespace
}  // namespace tally::oracle::silu_test
