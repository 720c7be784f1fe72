// Every activation that is registered, its kernels against its bound: every number of the 16-bit formats, and floats of
// every binade. Nothing here knows a formula or a kind.
#include <cmath>
#include <limits>

#include "oracle/case/contract.hpp"
#include "oracle/tolerance/expected.hpp"
#include "properties/generators/drawn_options.hpp"
#include "tests/kernels/activation/activation_calls.hpp"

namespace tally::every_activation_test {
namespace {

using oracle::Expected;

/// Finite ones: all of a 16-bit format, of fp32 as many, a prime number of bits apart.
std::vector<double> numbers_of(Dtype storage) {
  constexpr std::uint64_t count = 1 << 16, apart = 65521;
  Tensor all(storage, {static_cast<std::int64_t>(count)});
  for (std::uint64_t i = 0; i < count; ++i) all.set_bits(i, storage == Dtype::fp32 ? i * apart : i);
  std::vector<double> numbers;
  for (std::uint64_t i = 0; i < count; ++i)
    if (std::isfinite(all.value(i))) numbers.push_back(all.value(i));
  return numbers;
}

/// As many gradients, of sizes that a training step has.
std::vector<double> gradients_for(const std::vector<double>& x) {
  std::vector<double> dy = drawn(std::ssize(x));
  for (std::size_t i = 0; i < dy.size(); ++i)
    dy[i] = std::ldexp(std::round(dy[i] * 128), static_cast<int>(i % 16) - 12);
  return dy;
}

Expected exactly(const std::vector<double>& x) {
  const auto row = Eigen::Map<const oracle::Matrix<double>>(x.data(), 1, std::ssize(x));
  return {row.cast<long double>(), oracle::Matrix<double>::Zero(1, row.size())};
}

/// The largest error over bound; infinite for an error where there is no bound.
double worst(const Expected& expected, const std::vector<double>& got) {
  double ratio = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const long double v = expected.v.data()[i];
    const double e = expected.e.data()[i];
    if (got[i] == v || !(e < std::numeric_limits<double>::infinity())) continue;
    const auto error = static_cast<double>(std::fabs(got[i] - v));
    ratio = std::max(ratio, std::isnan(error) ? std::numeric_limits<double>::infinity() : error / e);
  }
  return ratio;
}

class EveryActivation : public testing::TestWithParam<Dtype> {};

/// By its claims as well as by none, which allow more.
TEST_P(EveryActivation, StaysWithinItsBound) {
  const Dtype storage = GetParam();
  Precision precision;
  precision.storage = storage;
  const std::vector<double> x = numbers_of(storage), dy = gradients_for(x);
  Claims claims;
  for (const auto& [operation, kernel] : standard_kernels(ExecutorKind::host))
    claims.kernels[operation] = kernel->claim;
  for (const Layer& layer : activations()) {
    const std::string family = kernel_family_of(layer);
    const std::vector<double> y = activation::forward(family, x, storage),
                              dx = activation::backward(family, x, dy, storage);
    for (const Claims& claimed : {claims, Claims{}}) {
      const oracle::Declared subject = oracle::declared(precision, claimed);
      const oracle::ExpectedTensors none;
      const oracle::BoundPass pass{layer, none, {1}, subject, {}};
      const oracle::BoundRule& rule = oracle::bound_rule(layer.kind);
      const double forward = worst(rule.forward(pass, exactly(x)).y, y),
                   backward = worst(rule.backward(pass, exactly(x), exactly(dy)).dx, dx);
      EXPECT_LE(forward, 1) << family;
      EXPECT_LE(backward, 1) << family;
      std::printf("  %-9s %s  error / bound  y %.4f  dx %.4f%s\n", family.c_str(),
                  std::string(name_of(storage)).c_str(), forward, backward,
                  claimed.kernels.empty() ? ", nothing claimed" : "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryActivation, testing::Values(Dtype::fp32, Dtype::fp16, Dtype::bf16),
                         [](const auto& drawn) { return std::string(name_of(drawn.param)); });

}  // namespace
}  // namespace tally::every_activation_test
