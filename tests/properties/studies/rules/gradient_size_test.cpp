// The lever that makes gradients smaller.
#include <gtest/gtest.h>

#include "kernels/training_step/run/run.hpp"
#include "oracle/case/io.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/lab/rules/trial.hpp"
#include "properties/laws/law.hpp"

namespace tally::gradient_size_test {
namespace {

/// Linear 3-4 in fp32, one window of 2 + 2 rows.
Plan small_plan(const std::string& loss) {
  Plan plan;
  plan.input = 3;
  plan.outputs = 4;
  plan.windows = {{2, 2}};
  plan.loss = choice("loss", loss);
  plan.recipe.optimizer = choice("optimizer", "sgd");
  plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.1"}}});
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.clip = choice("clip", "none");
  plan.recipe.loss_scale = choice("loss_scale", "dynamic", {{"initial", Decimal{"1024"}}});
  return plan;
}

double size_of_gradient(const Case& c) { return gradient_size(c, run(c)); }

TEST(GradientSize, OfAPowerOfTwoNothingIsLeftAsDrawn) {
  const Case c = case_of(small_plan("mse"));

  EXPECT_EQ(with_gradient_times(c, 0), c);
}

TEST(GradientSize, ScalesMeanSquaredErrorExactly) {
  const Case c = case_of(small_plan("mse"));

  for (const int exponent : {-10, -20}) {
    const Case scaled = with_gradient_times(c, exponent);

    EXPECT_EQ(std::ldexp(size_of_gradient(scaled), -exponent), size_of_gradient(c)) << exponent;
    EXPECT_EQ(scaled.recipe.loss_scale.number("initial").to_double(), std::ldexp(1024, -exponent));
  }
}

TEST(GradientSize, LeavesASureModelsGradientAtWhatItIsUnsureOf) {
  Case c = case_of(small_plan("cross_entropy"));
  for (const std::string name : {"out.weight", "out.bias"})
    c.tensors.at(name) = Tensor(Dtype::fp32, c.tensors.at(name).shape);

  for (const int exponent : {-10, -20}) {
    const Trace trace = run(with_gradient_times(c, exponent));

    // Equal logits but for the raised one: the probability of the others is left / (1 + left), left = 2^exponent.
    const Tensor& bias = *trace.find("w0/unscale/d.out.bias");
    const double left = std::ldexp(1.0, exponent), others = bias.value(1) + bias.value(2) + bias.value(3);
    EXPECT_LT(others, 2 * left) << exponent;
    EXPECT_GT(others, left / 2) << exponent;
    EXPECT_LT(bias.value(0), 0) << exponent;
  }
}

TEST(GradientSize, LeavesEveryLawsCasesValidInEveryFormat) {
  std::size_t shrunk = 0;
  for (const Law* law : laws()) {
    for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
      for (std::uint64_t i = 1; i <= 4; ++i) {
        Plan plan = random_plan(storage)(rc::Random(i), rc::kNominalSize).value();
        if (law->shape) law->shape(plan);
        if (!gradient_can_shrink(plan)) continue;
        EXPECT_TRUE(validate(with_gradient_times(case_of(plan), -20)).empty()) << law->name << ", plan " << i;
        ++shrunk;
      }
    }
  }
  EXPECT_GT(shrunk, 0u);
}

TEST(GradientSize, RefusesPlansWhoseGradientsWouldNotShrinkAlike) {
  Plan plan = small_plan("mse");
  EXPECT_TRUE(gradient_can_shrink(plan));

  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{5}}})};
  EXPECT_FALSE(gradient_can_shrink(plan));

  plan.loss = choice("loss", "cross_entropy");
  EXPECT_TRUE(gradient_can_shrink(plan));

  plan.data = Data::exact;
  EXPECT_FALSE(gradient_can_shrink(plan));
}

}  // namespace
}  // namespace tally::gradient_size_test
