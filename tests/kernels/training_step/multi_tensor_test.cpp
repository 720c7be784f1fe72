// The fused passes leave the bits of the stages that they fuse, and say in the trace which stages those are.
#include "kernels/training_step/multi_tensor.hpp"

#include <gtest/gtest.h>

#include "kernels/training_step/stages.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::multi_tensor_test {
namespace {

Case with_recipe(const std::string& optimizer, const std::string& decay, const std::string& clip) {
  Case c = case_with_everything();
  c.recipe.optimizer = choice_of("optimizer", optimizer);
  if (optimizer == "sgd") {
    c.recipe.optimizer = choice_of("optimizer", "sgd", {{"momentum", Decimal{"0.5"}}, {"nesterov", true}});
  }
  c.recipe.weight_decay = choice_of("weight_decay", decay);
  if (decay != "none") c.recipe.weight_decay = choice_of("weight_decay", decay, {{"lambda", Decimal{"0.5"}}});
  c.recipe.clip = choice_of("clip", clip == "2" || clip == "1" || clip == "inf" ? "global_norm" : clip);
  if (c.recipe.clip.kind == "global_norm") {
    c.recipe.clip = choice_of("clip", "global_norm", {{"max_norm", Decimal{"0.125"}}, {"norm", clip}});
  }
  if (clip == "value") c.recipe.clip = choice_of("clip", "value", {{"max_value", Decimal{"0.03125"}}});
  return c;
}

Trace fused(Case c, std::map<std::string, std::string> kernels) {
  c.execution.kernels = std::move(kernels);
  return run(c);
}

/// Every tap of the fused run is one of the separate stages' run, bits and all.
void expect_same_bits(const Trace& separate, const Trace& together, const std::string& what) {
  for (const Tap& tap : together.taps()) {
    const Tensor* other = separate.find(tap.name.text());
    ASSERT_NE(other, nullptr) << what << ": " << tap.name.text();
    EXPECT_TRUE(*other == tap.value) << what << ": " << tap.name.text();
  }
  EXPECT_TRUE(together.violations.empty()) << what << ": " << together.violations.front();
}

const std::map<std::string, std::string> read_once{{"unscale_check_norm", "multi_tensor"}};
const std::map<std::string, std::string> step_once{{"clip_decay_step", "multi_tensor"}};

template <class Use>
void for_each_recipe(Use use) {
  for (const std::string optimizer : {"sgd", "adam"}) {
    for (const std::string decay : {"none", "l2", "decoupled"}) {
      for (const std::string clip : {"none", "2", "1", "inf", "value"}) {
        use(with_recipe(optimizer, decay, clip), optimizer + ", " + decay + ", " + clip);
      }
    }
  }
}

TEST(MultiTensor, ReadingGradientsOnceLeavesEveryTapAndItsBits) {
  for_each_recipe([](const Case& c, const std::string& what) {
    const Trace separate = run(c), together = fused(c, read_once);
    expect_same_bits(separate, together, what);
    EXPECT_EQ(together.taps().size(), separate.taps().size()) << what;
    EXPECT_TRUE(together.groups.empty()) << what;
  });
}

TEST(MultiTensor, LeavesAnotherNormToItsKernel) {
  const Case c = with_recipe("sgd", "l2", "2");
  for (const std::string norm : {"shared_tree", "atomic_add"}) {
    std::map<std::string, std::string> kernels = read_once;
    kernels["norm"] = norm;
    const Trace together = fused(c, kernels);
    expect_same_bits(fused(c, {{"norm", norm}}), together, norm);
    EXPECT_EQ(together.claims.kernels.at("norm").variant, norm);
  }
}

TEST(MultiTensor, SteppingAtOnceLeavesTheSameBitsWithoutTheGradientsBetween) {
  for_each_recipe([](const Case& c, const std::string& what) {
    const Trace separate = run(c), together = fused(c, step_once);
    expect_same_bits(separate, together, what);
    for (const std::string tensor : {"fc1.weight", "fc1.bias"}) {
      ASSERT_NE(together.find("w1/optimizer/" + tensor), nullptr) << what;
      EXPECT_EQ(together.find("w1/clip/d." + tensor), nullptr) << what;
    }
  });
}

TEST(MultiTensor, StepsDeclareTheGroupThatTheyFuse) {
  using Groups = std::vector<StageGroup>;
  EXPECT_EQ(fused(with_recipe("sgd", "l2", "2"), step_once).groups, (Groups{{"clip", "optimizer"}}));
  EXPECT_EQ(fused(with_recipe("adam", "decoupled", "none"), step_once).groups, (Groups{{"decay", "optimizer"}}));
  EXPECT_EQ(fused(with_recipe("adam", "none", "none"), step_once).groups, Groups{});
}

TEST(MultiTensor, KeepsToTheFormatsOfMastersAndBuffers) {
  for (const Dtype format : {Dtype::fp16, Dtype::bf16}) {
    Case c = with_recipe("adam", "decoupled", "2");
    c.precision.accumulate = format;
    c.precision.master = c.precision.storage = format;
    c.tensors.clear();
    fill_tensors(c);
    std::map<std::string, std::string> both = read_once;
    both.insert(step_once.begin(), step_once.end());
    expect_same_bits(run(c), fused(c, both), "16 bits");
  }
}

TEST(MultiTensor, StandsBackWhereAStageWasReplaced) {
  Case c = with_recipe("sgd", "l2", "2");
  c.execution.kernels = step_once;
  Stages stages = shipped_stages();
  stages.variants = {{"sgd", "grid_stride"}};
  EXPECT_EQ(run(c, {.stages = &stages}).find("w0/clip/d.fc1.weight"), nullptr);
  stages.clip = [](tally::Run& run) { stage::clip(run); };
  const Trace replaced = run(c, {.stages = &stages});
  EXPECT_NE(replaced.find("w0/clip/d.fc1.weight"), nullptr);
  stages.variants = step_once;
  EXPECT_EQ(run(c, {.stages = &stages}).find("w0/clip/d.fc1.weight"), nullptr);
}

TEST(MultiTensor, FindsAnOverflowAndTakesNoStep) {
  Case c = with_recipe("adam", "decoupled", "2");
  c.precision.storage = Dtype::fp16;
  c.tensors.clear();
  fill_tensors(c);
  c.recipe.loss_scale = choice_of("loss_scale", "dynamic", {{"initial", Decimal{"16777216"}}});
  std::map<std::string, std::string> both = read_once;
  both.insert(step_once.begin(), step_once.end());
  const Trace together = fused(c, both);
  ASSERT_EQ(together.find("w0/overflow_check/found")->integer(0), 1);
  EXPECT_EQ(together.find("w0/optimizer/fc1.weight"), nullptr);
  expect_same_bits(run(c), together, "overflow");
}

}  // namespace
}  // namespace tally::multi_tensor_test
