// The hard lenses on gated layers: on paper, and clean runs by every kernel in every format.
#include "oracle/case/io.hpp"
#include "oracle/exact/trajectory.hpp"
#include "tests/kernels/residual_case.hpp"
#include "tests/properties/compare/clean_run.hpp"

namespace tally::gated_test {
namespace {

const std::vector<std::string> activations{"silu", "gelu", "gelu_tanh"};

/// gate and up each pick a column of x by their weights.
Case gated_case(Dtype storage = Dtype::fp32, const std::string& activation = "silu") {
  Case c = small_case();
  c.name = "gated";
  c.precision.storage = storage;
  c.model.input = 3;
  const auto linear = [](const char* name) {
    return reading({"input"}, layer_of("linear", name, {{"out", std::int64_t{4}}}));
  };
  c.model.layers = {linear("gate"), linear("up"),
                    reading({"gate", "up"}, layer_of("gated", "glu", {{"activation", activation}})),
                    layer_of("linear", "out", {{"out", std::int64_t{2}}})};
  c.model.loss = choice_of("loss", "mse");
  c.windows = {{3, 2}, {2}};
  c.tensors.clear();
  fill_tensors(c);
  return c;
}

TEST(Gated, PassesCleanRunsInEveryFormatAndByEveryKernel) {
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (unsigned seed = 1; seed <= 12; ++seed) {
      const std::string& activation = activations[seed % 3];
      Case c = gated_case(storage, activation);
      draw_normal(c, seed);
      const std::string variant = seed % 2 == 0 ? "fused" : "two_step", family = "gated_" + activation;
      c.execution.kernels[family + ".forward"] = c.execution.kernels[family + ".backward"] = variant;
      c.execution.recompute = seed % 4 == 0;
      EXPECT_TRUE(validate(c).empty());
      expect_clean(c, {}, std::string(name_of(storage)) + " " + activation + " " + std::to_string(seed));
    }
  }
}

/// A kernel that says nothing of itself may multiply in any order, and store between.
TEST(Gated, PassesTheSameRunsWithoutAClaim) {
  for (const std::string& activation : activations) {
    Case c = gated_case(Dtype::bf16, activation);
    draw_normal(c, 3);
    Trace trace = run(c);
    for (const char* direction : {".forward", ".backward"})
      trace.claims.kernels.at("gated_" + activation + direction) = {.variant = "unknown"};
    const auto checks = local_lens(c, trace);
    EXPECT_EQ(first_failure(checks), nullptr) << activation << " " << told(first_failure(checks));
  }
}

/// A gate of 0 is half open to changes: y = 0, dg = dy u / 2, du = 0.
class GatedBy : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Activations, GatedBy, testing::ValuesIn(activations),
                         [](const auto& each) { return each.param; });

TEST_P(GatedBy, LeavesOnPaperWhatItLeaves) {
  Case c = gated_case(Dtype::fp32, GetParam());
  for (const char* tensor : {"gate.weight", "gate.bias"})
    c.tensors.at(tensor) = Tensor(Dtype::fp32, c.tensors.at(tensor).shape);
  const Trace trace = run(c);
  const Tensor &y = *trace.find("w0/m0/forward/glu.y"), &u = *trace.find("w0/m0/forward/up.y"),
               &dy = *trace.find("w0/m0/backward/in.d.glu.y"), &dg = *trace.find("w0/m0/backward/d.glu.gate"),
               &du = *trace.find("w0/m0/backward/d.glu.up");
  ASSERT_GT(y.elements(), 0u);
  for (std::size_t i = 0; i < y.elements(); ++i) {
    EXPECT_EQ(y.value(i), 0);
    EXPECT_EQ(du.value(i), 0);
    EXPECT_EQ(dg.value(i), static_cast<float>(dy.value(i) * u.value(i)) / 2);
  }
}

/// No formula of the derivative is asked.
TEST_P(GatedBy, HasTheSlopeOfTheLoss) {
  using Wide = long double;
  Case c = gated_case(Dtype::fp32, GetParam());
  c.windows = {{3, 2}};
  c.tensors.clear();
  fill_tensors(c);
  const auto answer_of = [](const Case& of) {
    return oracle::evaluate_window<Wide>(of, 0, oracle::Branch::accumulated, oracle::initial_state<Wide>(of));
  };
  const auto answer = answer_of(c);
  for (const char* parameter : {"gate.weight", "gate.bias", "up.weight"}) {
    const auto& slopes = answer.grad.at(parameter);
    const Wide largest = slopes.cwiseAbs().maxCoeff();
    for (std::size_t i = 0; i < c.tensors.at(parameter).elements(); ++i) {
      constexpr double step = 0x1p-12;
      const double at = c.tensors.at(parameter).value(i);
      const auto loss_at = [&](double value) {
        c.tensors.at(parameter).set(i, value);
        return answer_of(c).loss;
      };
      const Wide difference = (loss_at(at + step) - loss_at(at - step)) / (2 * step);
      c.tensors.at(parameter).set(i, at);
      EXPECT_LE(std::fabs(difference - slopes.data()[i]), step * largest) << parameter << " " << i;
    }
  }
}

}  // namespace
}  // namespace tally::gated_test
