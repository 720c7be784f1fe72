// The hard lenses on gated layers: on paper, and clean runs by every kernel in every format.
#include "oracle/case/io.hpp"
#include "oracle/window/trajectory.hpp"
#include "tests/kernels/residual_case.hpp"
#include "tests/properties/compare/clean_run.hpp"

namespace tally {
namespace {

/// gate and up each pick a column of x by their weights.
Case gated_case(Dtype storage = Dtype::fp32) {
  Case c = small_case();
  c.name = "gated";
  c.precision.storage = storage;
  c.model.input = 3;
  const auto linear = [](const char* name) {
    return reading({"input"}, layer_of("linear", name, {{"out", std::int64_t{4}}}));
  };
  c.model.layers = {linear("gate"), linear("up"), reading({"gate", "up"}, layer_of("gated", "glu")),
                    layer_of("linear", "out", {{"out", std::int64_t{2}}})};
  c.model.loss = choice_of("loss", "mse");
  c.windows = {{3, 2}, {2}};
  c.tensors.clear();
  fill_tensors(c);
  return c;
}

TEST(Gated, PassesCleanRunsInEveryFormatAndByEveryKernel) {
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (unsigned seed = 1; seed <= 8; ++seed) {
      Case c = gated_case(storage);
      draw_normal(c, seed);
      const std::string variant = seed % 2 == 0 ? "fused" : "two_step";
      c.execution.kernels["gated_silu.forward"] = c.execution.kernels["gated_silu.backward"] = variant;
      c.execution.recompute = seed % 3 == 0;
      EXPECT_TRUE(validate(c).empty());
      expect_clean(c, {}, std::string(name_of(storage)) + " " + std::to_string(seed));
    }
  }
}

/// A gate of 0 is half open to changes: y = 0, dg = dy u / 2, du = 0.
TEST(Gated, LeavesOnPaperWhatItLeaves) {
  Case c = gated_case();
  for (const char* tensor : {"gate.weight", "gate.bias"})
    c.tensors.at(tensor) = Tensor(Dtype::fp32, c.tensors.at(tensor).shape);
  const Trace trace = run(c);
  const Tensor &y = *trace.find("w0/m0/forward/glu.y"), &u = *trace.find("w0/m0/forward/up.y"),
               &dy = *trace.find("w0/m0/backward/in.d.glu.y"), &dg = *trace.find("w0/m0/backward/d.glu.gate"),
               &du = *trace.find("w0/m0/backward/d.glu.up");
  for (std::size_t i = 0; i < y.elements(); ++i) {
    EXPECT_EQ(y.value(i), 0);
    EXPECT_EQ(du.value(i), 0);
    EXPECT_EQ(dg.value(i), static_cast<float>(dy.value(i) * u.value(i)) / 2);
  }
}

/// No formula of the derivative is asked.
TEST(Gated, HasTheSlopeOfTheLoss) {
  using Wide = long double;
  Case c = gated_case();
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
}  // namespace tally
