// GELU by an approximation of erf, as vectorised libraries have it: the bound of a kernel that says nothing of itself holds
// it, and that of one that claims a library's erf does not.
#include <numbers>

#include "tests/oracle/layers/activation_emulation.hpp"

namespace tally::oracle::approximated_erf_test {
namespace {

using emulation::exactly;
using emulation::exp_of;
using emulation::Subject;
using emulation::Worst;

/// Abramowitz and Stegun 7.1.26 in floats.
float approximated(Subject& s, float x) {
  const float z = std::fabs(x), t = 1.0f / (1.0f + 0.3275911f * z);
  const float sum =
      t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  return std::copysign(1.0f - sum * exp_of(s, -(z * z)), x);
}

float gelu(Subject& s, float x) {
  return (0.5f * x) * (1.0f + approximated(s, x * static_cast<float>(1 / std::numbers::sqrt2)));
}

float gradient(Subject& s, float x, float dy) {
  const float cumulative = 0.5f * (1.0f + approximated(s, x * static_cast<float>(1 / std::numbers::sqrt2)));
  const auto c = static_cast<float>(1 / std::sqrt(2 * std::numbers::pi));
  return dy * (cumulative + x * (exp_of(s, -0.5f * (x * x)) * c));
}

struct Held {
  Worst forward, backward;
};
Held held_by(const std::string& algorithm) {
  Layer layer;
  layer.kind = "gelu";
  layer.options["approximate"] = std::string("none");
  Claims claims;
  for (const char* operation : {"gelu_none.forward", "gelu_none.backward"})
    claims.kernels[operation].algorithm = algorithm;
  Held held;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Subject s(Dtype::fp32, seed);
    const Declared subject = declared(s.precision(), claims);
    const ExpectedTensors none;
    const BoundPass pass{layer, none, {4}, subject, {}};
    const Matrix<float> x = s.values(4, 25, seed % 3 == 0 ? 3 : seed % 3 == 1 ? 1 : 1e-3), dy = s.values(4, 25);
    held.forward.hold(bound_rule("gelu").forward(pass, exactly(x)).y, emulation::map(s, x, gelu));
    Matrix<float> dx = x;
    for (Eigen::Index i = 0; i < x.size(); ++i) dx.data()[i] = gradient(s, x.data()[i], dy.data()[i]);
    held.backward.hold(bound_rule("gelu").backward(pass, exactly(x), exactly(dy)).dx, dx);
  }
  return held;
}

TEST(ApproximatedErf, IsHeldWhereNothingIsClaimed) {
  const Held held = held_by("");
  EXPECT_EQ(held.forward.over, 0u);
  EXPECT_EQ(held.backward.over, 0u);
}

TEST(ApproximatedErf, BreaksTheClaimOfALibrarysErf) {
  const Held held = held_by("erf");
  EXPECT_GT(held.forward.over, 0u);
  EXPECT_GT(held.backward.over, 0u);
}

}  // namespace
}  // namespace tally::oracle::approximated_erf_test
