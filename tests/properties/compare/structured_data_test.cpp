// Correct stages on ordinary data structures, at sizes where a lean in each rounding would be seen. Errors of one
// operation on two numbers lean wherever one of them is shared; sums of addends that are alike drift.
#include <gtest/gtest.h>

#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/window/bound_stages.hpp"
#include "properties/judge/spread.hpp"
#include "reports/record/record.hpp"
#include "tests/kernels/small_case.hpp"
#include "tests/properties/compare/structured.hpp"

namespace tally::structured_data_test {
namespace {

using namespace structured;
using oracle::BoundedMatrix;
using oracle::Declared;
using oracle::Expected;

const Claims undeclared;
const Declared declared = oracle::declared(Precision{}, undeclared);

Tensor tensor_of(const Floats& x) {
  Tensor tensor(Dtype::fp32, {x.rows(), x.cols()});
  std::memcpy(tensor.bytes.data(), x.data(), tensor.bytes.size());
  return tensor;
}

Expected read(const Floats& x) { return oracle::as_read(tensor_of(x)); }

/// The largest deviation of the tests of the largest element, along the value itself, and of the tensor: standard
/// units.
double units(const Expected& expected, const Tensor& got) {
  double most = 0;
  for (const SpreadFinding& found : spread_tests(expected, got, {})) most = std::max(most, found.deviation);
  return most;
}

/// The decision limit in the same units.
double limit(double alpha) { return std::sqrt(2 * (std::numbers::ln2 - log10_share(alpha) * std::numbers::ln10)); }

/// Holds one tensor to its bound and to the lens.
void held(const std::string& stage, const Expected& expected, const Floats& got, double& worst) {
  const SpreadFinding found = spread_of(expected, tensor_of(got), {});
  for (Eigen::Index i = 0; i < got.size(); ++i) {
    const long double error = std::fabs(expected.v.data()[i] - got.data()[i]);
    EXPECT_LE(error, expected.e.data()[i]) << stage;
  }
  EXPECT_EQ(verdict_of(found.log10_chance), SpreadVerdict::expected)
      << stage << ": " << found.test << ", z " << found.deviation;
  worst = std::max(worst, units(expected, tensor_of(got)));
}

/// Elements of a tensor.
constexpr Eigen::Index sizes[] = {1 << 10, 1 << 14, 1 << 17};

TEST(StructuredData, OneRoundingOfAConstantAndANumber) {
  for (const Structure structure : structures) {
    std::printf("  constant x %s:", name_of(structure).c_str());
    for (const Eigen::Index n : sizes) {
      double worst = 0;
      const Floats x = drawn(structure, n / 16, 16, 1);
      for (const float c : {0.1F, 0.001F, 0.3F, 1.0F / 3}) {
        held("constant x " + name_of(structure), oracle::scaled(declared, read(x), oracle::scalar(c)), c * x, worst);
      }
      std::printf(" %.2f", worst);
    }
    std::printf("\n");
  }
}

TEST(StructuredData, OneStepForManyNumbersOfAGrid) {
  const Choice sgd = choice_of("optimizer", "sgd");
  for (const Structure structure : structures) {
    std::printf("  p - fl(0.1 g), g %s:", name_of(structure).c_str());
    for (const Eigen::Index n : sizes) {
      double worst = 0;
      const Floats g = 0.01F * drawn(structure, n / 16, 16, 2);
      for (const bool near_one : {false, true}) {
        const Floats p = drawn(Structure::normal, n / 16, 16, 3) * (near_one ? 0.01F : 1) +
                         Floats::Constant(n / 16, 16, near_one ? 1.0F : 0.0F);
        held("step of " + name_of(structure),
             oracle::sgd_parameter(declared, sgd, oracle::scalar(0.1F), read(g), {}, read(p)), p - 0.1F * g, worst);
      }
      std::printf(" %.2f", worst);
    }
    std::printf("\n");
  }
}

TEST(StructuredData, TheFirstStepOfAdamNearOne) {
  const Choice adam = choice_of("optimizer", "adam");
  std::printf("  Adam's first step, weights near 1:");
  for (const Eigen::Index n : sizes) {
    double worst = 0;
    const Floats p = Floats::Constant(1, n, 1) + 1e-3F * drawn(Structure::normal, 1, n, 4);
    const Floats g = drawn(Structure::unit_interval, 1, n, 5);
    const Floats m = static_cast<float>(1 - 0.9) * g, v = static_cast<float>(1 - 0.999) * g.cwiseProduct(g);
    Floats after = p;
    const auto rate = static_cast<float>(0.001 / (1 - 0.9)), root = static_cast<float>(std::sqrt(1 - 0.999));
    for (Eigen::Index i = 0; i < n; ++i) {
      const float divisor = std::sqrt(v.data()[i]) / root + 1e-8F;
      after.data()[i] -= rate * (m.data()[i] / divisor);
    }
    held("exp_avg", oracle::adam_exp_avg(declared, adam, read(g), {}), m, worst);
    held("exp_avg_sq", oracle::adam_exp_avg_sq(declared, adam, read(g), {}), v, worst);
    held("parameter", oracle::adam_parameter(declared, adam, 0.001L, 0, read(m), read(v), read(p), false), after,
         worst);
    std::printf(" %.2f", worst);
  }
  std::printf("\n");
}

/// Column sums of 16 columns by every order.
TEST(StructuredData, SumsOfColumns) {
  for (const Structure structure : structures) {
    std::printf("  column sums of %s:", name_of(structure).c_str());
    for (const Eigen::Index n : sizes) {
      double worst = 0;
      const Floats x = drawn(structure, n / 16, 16, 6);
      const BoundedMatrix sums = oracle::column_sums(declared, BoundedMatrix(declared, read(x)), KernelClaim{});
      const Expected expected = oracle::joined(declared, x.cast<long double>().colwise().sum(), sums);
      for (const Order order : orders) {
        Floats got(1, 16);
        for (Eigen::Index j = 0; j < 16; ++j) {
          got(0, j) = sum_of(x.rows(), order, [&](Eigen::Index i) { return x(i, j); });
        }
        held("column sums of " + name_of(structure), expected, got, worst);
      }
      std::printf(" %.2f", worst);
    }
    std::printf("\n");
  }
}

/// mse's loss of each row.
TEST(StructuredData, LossesOfRows) {
  const Choice mse = choice_of("loss", "mse");
  for (const Structure structure : structures) {
    std::printf("  mse of %s:", name_of(structure).c_str());
    for (const Eigen::Index n : sizes) {
      double worst = 0;
      for (const Eigen::Index features : {10, 64}) {
        const Floats y = drawn(structure, n / features, features, 10), target = Floats::Zero(y.rows(), y.cols());
        const auto ones = oracle::Matrix<long double>::Constant(1, y.rows(), 1);
        const Expected factor{ones, oracle::Matrix<double>::Zero(1, y.rows())};
        const auto expected =
            oracle::loss_bound_rule("mse").evaluate(mse, declared, read(y), target.cast<long double>(), ones, factor);
        const auto share = static_cast<float>(1.0 / static_cast<double>(features));
        for (const Order order : orders) {
          Floats got(1, y.rows());
          for (Eigen::Index i = 0; i < y.rows(); ++i) {
            got(0, i) = share * sum_of(features, order, [&](Eigen::Index j) { return y(i, j) * y(i, j); });
          }
          held("mse of " + name_of(structure), expected.loss, got, worst);
        }
      }
      std::printf(" %.2f", worst);
    }
    std::printf("\n");
  }
}

/// x W^T and dy^T x: a tall matrix of data against a small one of weights, or against gradients.
TEST(StructuredData, ProductsOfMatrices) {
  for (const Structure data : structures) {
    for (const Structure weights : {Structure::normal, Structure::constant, Structure::nearly_constant}) {
      std::printf("  %s x %s:", name_of(data).c_str(), name_of(weights).c_str());
      for (const Eigen::Index n : {1 << 10, 1 << 14}) {
        double worst = 0;
        for (const Eigen::Index k : {2, 24}) {
          const Floats x = drawn(data, n / 8, k, 7), w = drawn(weights, k, 8, 8), dy = drawn(weights, n / 8, 8, 9);
          const auto hold = [&](const Floats& a, const Floats& b, const std::string& name) {
            const Expected expected = oracle::joined(
                declared, (a.cast<double>() * b.cast<double>()).cast<long double>(),
                oracle::product(declared, BoundedMatrix(declared, read(a)), BoundedMatrix(declared, read(b))));
            for (const Order order : orders) held(name, expected, product(a, b, order, false), worst);
            held(name + ", fused", expected, product(a, b, Order::serial, true), worst);
          };
          hold(x, w, name_of(data) + " x " + name_of(weights));
          hold(dy.transpose(), x, name_of(weights) + " ^T x " + name_of(data));
        }
        std::printf(" %.2f", worst);
      }
      std::printf("\n");
    }
  }
  std::printf("  limits: %.2f fails, %.2f warns\n", limit(family_alpha), limit(warning_alpha));
}

}  // namespace
}  // namespace tally::structured_data_test
