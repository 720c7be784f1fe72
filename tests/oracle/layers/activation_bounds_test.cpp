// tanh, sigmoid, gelu, relu and dropout: elementwise rules against the kernels' formulas in floats.
#include <numbers>

#include "tests/oracle/layers/activation_emulation.hpp"

namespace tally::oracle::activation_bounds_test {
namespace {

using emulation::Activation;
using emulation::erf_of;
using emulation::exactly;
using emulation::exp_of;
using emulation::sigmoid_of;
using emulation::Subject;
using emulation::tanh_of;
using emulation::Worst;

float gelu_erf(Subject& s, float x) {
  return (0.5f * x) * (1.0f + erf_of(s, x * static_cast<float>(1 / std::numbers::sqrt2)));
}
float gelu_erf_gradient(Subject& s, float x, float dy) {
  const float cumulative = 0.5f * (1.0f + erf_of(s, x * static_cast<float>(1 / std::numbers::sqrt2)));
  const auto c = static_cast<float>(1 / std::sqrt(2 * std::numbers::pi));
  return dy * (cumulative + x * (exp_of(s, -0.5f * (x * x)) * c));
}
float inner(Subject& s, float x) {
  const auto k = static_cast<float>(std::sqrt(2 / std::numbers::pi));
  return tanh_of(s, k * (x + 0.044715f * (x * (x * x))));
}
float gelu_tanh(Subject& s, float x) { return (0.5f * x) * (1.0f + inner(s, x)); }
float gelu_tanh_gradient(Subject& s, float x, float dy) {
  const auto k = static_cast<float>(std::sqrt(2 / std::numbers::pi));
  const float t = inner(s, x), di = k * (1.0f + (3 * 0.044715f) * (x * x));
  return dy * (0.5f * (1.0f + t) + ((0.5f * x) * (1.0f - t * t)) * di);
}

std::vector<Activation> activations() {
  return {{"tanh",
           "tanh",
           {},
           tanh_of,
           [](Subject& s, float x, float dy) {
             const float t = tanh_of(s, x);
             return dy * (1.0f - t * t);
           },
           [](Subject&, float x) { return x; }},
          {"sigmoid",
           "sigmoid",
           {},
           sigmoid_of,
           [](Subject& s, float x, float dy) {
             const float y = sigmoid_of(s, x);
             return dy * (y * (1.0f - y));
           },
           [](Subject& s, float x) { return 1.0f / exp_of(s, -x); }},
          {"gelu erf",
           "gelu",
           {{"approximate", std::string("none")}},
           gelu_erf,
           gelu_erf_gradient,
           gelu_tanh,
           "gelu_none",
           "erf"},
          {"gelu tanh", "gelu", {{"approximate", std::string("tanh")}}, gelu_tanh, gelu_tanh_gradient, gelu_erf},
          {"relu",
           "relu",
           {},
           [](Subject&, float x) { return x > 0 ? x : 0; },
           [](Subject&, float x, float dy) { return x > 0 ? dy : 0; },
           [](Subject&, float x) { return x; }}};
}

class ActivationBound : public testing::TestWithParam<Dtype> {};

TEST_P(ActivationBound, HoldsForwardAndBackwardFromTinyToSaturated) {
  for (const Activation& a : activations()) emulation::expect_bound(a, GetParam(), std::string(a.kind) != "relu");
}

TEST_P(ActivationBound, HoldsDropoutWithAFactorThatIsNoPowerOfTwo) {
  Worst worst;
  Layer layer;
  layer.kind = "dropout";
  layer.options["p"] = Decimal{"0.3"};
  for (unsigned seed = 1; seed <= 50; ++seed) {
    Subject s(GetParam(), seed);
    const Claims claims;
    const Declared subject = declared(s.precision(), claims);
    const Matrix<float> x = s.values(4, 25);
    Matrix<float> mask = s.values(4, 25).unaryExpr([](float v) { return v > 0 ? 1.0f : 0.0f; }), y = x;
    const ExpectedTensors tensors{{"mask", exactly(mask)}};
    const auto f = static_cast<float>(1 / (1 - 0.3));
    for (Eigen::Index i = 0; i < x.size(); ++i) y.data()[i] = mask.data()[i] != 0 ? s.store(x.data()[i] * f) : 0;
    worst.hold(bound_rule("dropout").forward({layer, tensors, {4}, subject, {}}, exactly(x)).y, y);
  }
  worst.expect_sound("dropout " + std::string(name_of(GetParam())));
}

TEST(ReluBound, ReplaysADecisionThatTheIntervalLeavesOpen) {
  Layer layer;
  layer.kind = "relu";
  const Claims claims;
  const Declared subject = declared(Precision{}, claims);
  const ExpectedTensors none;
  Expected x = exactly(Matrix<float>::Constant(1, 3, 0.0f)), dy = exactly(Matrix<float>::Constant(1, 3, 2.0f));
  x.v << 0.5L, -0.5L, 0.25L;
  x.e << 1, 1, 0.125;
  const BoundPass open{layer, none, {1}, subject, {}};
  EXPECT_EQ(bound_rule("relu").backward(open, x, dy).dx.e(0, 0), 2);
  EXPECT_EQ(bound_rule("relu").backward(open, x, dy).dx.e(0, 2), 0);
  Decisions replayed;
  replayed.relu_active = Matrix<double>(1, 3);
  *replayed.relu_active << 0, 1, 1;
  const BoundPass decided{layer, none, {1}, subject, replayed};
  const auto dx = bound_rule("relu").backward(decided, x, dy).dx;
  EXPECT_EQ(dx.e, (Matrix<double>::Zero(1, 3)));
  EXPECT_EQ(static_cast<double>(dx.v(0, 0)), 0);
  EXPECT_EQ(static_cast<double>(dx.v(0, 1)), 2);
}

INSTANTIATE_TEST_SUITE_P(Formats, ActivationBound, testing::ValuesIn(emulation::storages),
                         [](const auto& drawn) { return std::string(name_of(drawn.param)); });

}  // namespace
}  // namespace tally::oracle::activation_bounds_test
