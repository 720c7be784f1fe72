// The last layer and its loss as one: what is asked of the rule is asked of the rules inside.
#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/tolerance/gemm.hpp"
#include "tests/oracle/layers/layer_variants.hpp"
#include "tests/oracle/undeclared.hpp"

namespace tally::oracle::head_sources_test {
namespace {

using Bounds = std::map<std::string, double>;  // of every output, its elements' sum

Expected off_by_little(const Matrix<double>& v) { return {v.cast<long double>(), 0x1p-12 * v.cwiseAbs()}; }

Bounds bounds_asked(const Asked& asked) {
  static const std::vector<LayerVariant> variants = layer_variants();
  const LayerVariant& linear = *std::ranges::find(variants, "linear", &LayerVariant::name);
  static const Claims claims{.kernels = {{"head_loss", {}}}};
  const Choice loss{
      "cross_entropy",
      {{"ignore_index", std::int64_t{-100}}, {"label_smoothing", Decimal{"0"}}, {"weight", std::vector<Decimal>{}}}};
  const Precision precision{.storage = Dtype::bf16};
  const Declared subject = with(declared(precision, claims), asked);
  ExpectedTensors tensors;
  for (const auto& [name, v] : linear.tensors) tensors[name] = off_by_little(v);
  const BoundPass pass{linear.layer, tensors, linear.cut, subject, {}};
  const Expected x = off_by_little(linear.x), dy = off_by_little(linear.dy);
  const Matrix<long double> zeros = Matrix<long double>::Zero(1, dy.v.rows()), ones = zeros.array() + 1;
  const ExpectedLoss of_loss = head_loss(loss, subject, dy, zeros, ones, off_by_little(ones.cast<double>()));
  const ExpectedBackward back = head_backward(pass, x, dy);
  return {{"y", head_forward(pass, x).y.e.sum()},
          {"loss", of_loss.loss.e.sum()},
          {"dx", back.dx.e.sum()},
          {"d.weight", back.parameters.at("weight").e.sum()}};
}

TEST(HeadLoss, GivesEverySourceItsTerm) {
  const Bounds whole = bounds_asked({});
  Asked without_inputs, without_additions, without_stores, without_functions;
  without_inputs.sources.input = without_additions.sources.accumulation = 0;
  without_stores.sources.storage = without_functions.sources.function = 0;
  for (const auto& [output, bound] : whole) {
    EXPECT_LT(bounds_asked(without_inputs).at(output), bound) << output;
    EXPECT_LT(bounds_asked(without_additions).at(output), bound) << output;
    EXPECT_EQ(bounds_asked(without_functions).at(output) < bound, output == "loss") << output;
    EXPECT_EQ(bounds_asked(without_stores).at(output) < bound, output.starts_with("d"))
        << output;  // the others in fp32
  }
  EXPECT_EQ(whole.size(), 4u);
}

}  // namespace
}  // namespace tally::oracle::head_sources_test
