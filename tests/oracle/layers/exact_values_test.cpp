// Differences check a gradient against its own forward; these hold the forwards to their definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/oracle/layers/layer_variants.hpp"

namespace tally::oracle::exact_values_test {
namespace {

using Wide = long double;

/// The variant's y at row r, column c.
Wide y_at(const LayerVariant& v, Eigen::Index r, Eigen::Index c) {
  return exact_layer<Wide>(v.layer.kind).forward({v.layer, as<Wide>(v.tensors), v.cut}, v.x.cast<Wide>()).y(r, c);
}

LayerVariant named(const std::string& name) {
  for (LayerVariant& v : layer_variants())
    if (v.name == name) return v;
  throw std::logic_error("no variant " + name);
}

/// Holds every element to `definition(x)`, of at most eight operations on numbers below 4.
template <class Definition>
void expect_elements(const std::string& name, const Definition& definition) {
  const LayerVariant v = named(name);
  const Wide rounding = 8 * 4 * std::numeric_limits<Wide>::epsilon();
  for (Eigen::Index r = 0; r < v.x.rows(); ++r)
    for (Eigen::Index c = 0; c < v.x.cols(); ++c)
      EXPECT_LE(std::fabs(y_at(v, r, c) - definition(Wide(v.x(r, c)))), rounding) << name << " at " << v.x(r, c);
}

TEST(ExactValues, OfElementwiseLayersAreTheirDefinitions) {
  const Wide pi = std::acos(-1.0L);
  expect_elements("tanh", [](Wide x) { return 1 - 2 / (std::exp(2 * x) + 1); });
  expect_elements("sigmoid", [](Wide x) { return 1 / (1 + std::exp(-x)); });
  expect_elements("gelu_erf", [](Wide x) { return x * (1 + std::erf(x / std::sqrt(2.0L))) / 2; });
  expect_elements("gelu_tanh",
                  [pi](Wide x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715L * x * x * x))); });
}

TEST(ExactValues, OfDropoutAreScaledByWhatIsKept) {
  LayerVariant v = named("dropout");
  v.layer.options["p"] = Decimal{"0.75"};

  for (Eigen::Index c = 0; c < 3; ++c) EXPECT_EQ(y_at(v, 1, c), 4 * v.x(1, c) * v.tensors.at("mask")(1, c));
}

TEST(ExactValues, OfLinearAreRowTimesRowPlusBias) {
  const LayerVariant v = named("linear");
  const double expected = v.x.row(2).dot(v.tensors.at("weight").row(3)) + v.tensors.at("bias")(3);

  EXPECT_EQ(y_at(v, 2, 3), expected);  // dyadic: exact
}

/// (x - mean) / sqrt(var + eps) · weight + bias, of rows [first, first + n) of a column or of a whole row.
Wide normalised(const LayerVariant& v, Wide x, Wide mean, Wide var, Eigen::Index c) {
  return (x - mean) / std::sqrt(var + 1e-5L) * v.tensors.at("weight")(c) + v.tensors.at("bias")(c);
}

void expect_normalised(const LayerVariant& v, Eigen::Index r, Eigen::Index c, const Matrix<double>& population) {
  const Matrix<Wide> wide = population.cast<Wide>();
  const Wide mean = wide.mean(), var = (wide.array() - mean).square().mean();
  const Wide rounding = 64 * 4 * std::numeric_limits<Wide>::epsilon() / std::sqrt(var);
  EXPECT_LE(std::fabs(y_at(v, r, c) - normalised(v, v.x(r, c), mean, var, c)), rounding) << v.name;
}

TEST(ExactValues, OfNormsStandardiseTheirOwnPopulation) {
  const LayerVariant rows = named("layer_norm"), groups = named("batch_norm_micro_batch"),
                     all = named("batch_norm_window");

  expect_normalised(rows, 1, 2, rows.x.row(1));
  expect_normalised(groups, 1, 2, groups.x.block(0, 2, 3, 1));
  expect_normalised(groups, 4, 2, groups.x.block(3, 2, 2, 1));
  expect_normalised(all, 4, 2, all.x.col(2));
}

TEST(ExactValues, OfFrozenBatchNormUseTheRunningValues) {
  const LayerVariant v = named("batch_norm_frozen");
  const Wide mean = v.tensors.at("running_mean")(1), var = v.tensors.at("running_var")(1);
  const Wide rounding = 8 * 4 * std::numeric_limits<Wide>::epsilon() / std::sqrt(var);

  EXPECT_LE(std::fabs(y_at(v, 3, 1) - normalised(v, v.x(3, 1), mean, var, 1)), rounding);
}

}  // namespace
}  // namespace tally::oracle::exact_values_test
