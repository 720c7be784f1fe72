#include <gtest/gtest.h>

#include "properties/laws/judge.hpp"
#include "properties/laws/law.hpp"
#include "tests/kernels/attention_case.hpp"

namespace tally::promised_bits_test {
namespace {

Case clipped_case() {
  Case c = small_case();
  c.recipe.clip = choice_of("clip", "global_norm", {{"max_norm", Decimal{"0.125"}}});
  return c;
}

PromisedBits promised_by(Case c, std::map<std::string, std::string> kernels) {
  c.execution.kernels = std::move(kernels);
  return PromisedBits(run(c));
}

bool promises(const PromisedBits& promised, const std::string& tap) { return promised.of(tap_name_of(tap)); }

TEST(PromisedBits, AreAllOfThemByKernelsThatRepeat) {
  const PromisedBits promised = promised_by(clipped_case(), {});
  EXPECT_TRUE(promises(promised, "w1/optimizer/fc1.weight"));
  EXPECT_EQ(promised.without(), "");
}

TEST(PromisedBits, EndAtANormByAtomics) {
  const PromisedBits promised = promised_by(clipped_case(), {{"norm", "atomic_add"}});
  EXPECT_TRUE(promises(promised, "w0/unscale/d.fc1.weight"));
  EXPECT_FALSE(promises(promised, "w0/norm/norm"));
  EXPECT_FALSE(promises(promised, "w0/optimizer/fc1.weight"));
  EXPECT_FALSE(promises(promised, "w1/m0/forward/fc1.y"));
  EXPECT_EQ(promised.without(), "norm by atomic_add");
}

TEST(PromisedBits, LoseNothingToANormThatNoStageTakes) {
  EXPECT_EQ(promised_by(small_case(), {{"norm", "atomic_add"}}).without(), "");
}

TEST(PromisedBits, OfABiasGradientByAtomicsAreTheOtherParameters) {
  const PromisedBits promised = promised_by(small_case(), {{"linear.bias_gradient", "atomic_add"}});
  EXPECT_TRUE(promises(promised, "w0/m0/backward/d.fc1.x"));
  EXPECT_TRUE(promises(promised, "w0/optimizer/fc1.weight"));
  EXPECT_FALSE(promises(promised, "w0/m0/backward/d.fc1.bias"));
  EXPECT_FALSE(promises(promised, "w0/optimizer/fc1.bias"));
  EXPECT_FALSE(promises(promised, "w1/m0/forward/fc1.y"));
  const PromisedBits clipped = promised_by(clipped_case(), {{"linear.bias_gradient", "atomic_add"}});
  EXPECT_TRUE(promises(clipped, "w0/unscale/d.fc1.weight"));
  EXPECT_FALSE(promises(clipped, "w0/clip/d.fc1.weight"));
}

TEST(PromisedBits, OfAttentionsGradientsByAtomicsAreThoseBeforeThem) {
  const PromisedBits promised = promised_by(small_attention_model(1), {{"attention.backward", "recompute_atomic"}});
  EXPECT_TRUE(promises(promised, "w0/m0/forward/att.y"));
  EXPECT_TRUE(promises(promised, "w0/m1/loss/d.y"));
  EXPECT_FALSE(promises(promised, "w0/m0/backward/d.att.q"));
  EXPECT_FALSE(promises(promised, "w0/optimizer/q.weight"));
  EXPECT_FALSE(promises(promised, "w1/m0/forward/att.y"));
  EXPECT_EQ(promised.without(), "attention.backward by recompute_atomic");
}

/// Bits without a promise that differ pass; a promised tensor's still fail; where no tensor is promised, the law counts
/// for nothing and says why.
TEST(PromisedBits, AreAllThatEqualBitsAreDemandedOf) {
  Case c = clipped_case();
  c.execution.kernels = {{"norm", "atomic_add"}};
  const Trace trace = run(c), other = run(small_case());
  Outcome norm;
  require_equal_bits(norm, trace, other, {"norm", "optimizer"}, "bits differ");
  ASSERT_EQ(norm.checks.size(), 1u);
  EXPECT_EQ(norm.checks[0].status, Status::vacuous);
  const Outcome counted = settled(norm);
  EXPECT_EQ(counted.status, Status::vacuous);
  Outcome gradient;
  Case changed = c;
  changed.tensors.at("x").set(0, 5);
  require_equal_bits(gradient, trace, run(changed), {"unscale"}, "bits differ");
  EXPECT_EQ(settled(gradient).status, Status::fail);
}

}  // namespace
}  // namespace tally::promised_bits_test
