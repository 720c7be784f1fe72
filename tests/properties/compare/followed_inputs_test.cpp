// The local lens where stages' inputs are not tapped: each is what the stage before left, and what is wrong fails where
// it is wrong.
#include "kernels/training_step/run/run.hpp"
#include "properties/judge/lens.hpp"
#include "tests/kernels/adapted_case.hpp"
#include "tests/kernels/attention_case.hpp"
#include "tests/properties/compare/changed_trace.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::followed_inputs_test {
namespace {

/// What a loop shows of itself: outputs of layers and their gradients, buffers, steps; not what is between them.
bool is_seen(const TapName& name) {
  if (name.stage == "cast" || name.stage == "decay" || name.tensor.ends_with(".lse") || name.tensor.ends_with(".delta"))
    return false;
  if (name.tensor.ends_with(".rstd") || name.tensor.ends_with(".mean") || name.tensor == "loss") return false;
  const bool constant = name.tensor == "in.factor" || name.tensor == "in.learning_rate" || name.tensor == "in.step";
  return constant || !name.tensor.starts_with("in.");
}

Trace as_seen(const Trace& whole) {
  Trace seen;
  seen.claims = {};
  seen.case_hash = whole.case_hash;
  for (const Tap& tap : whole.taps())
    if (is_seen(tap.name)) seen.add(tap.name, tap.value);
  return seen;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    all.push_back(small_attention_model(seed));
    all.push_back(turned_model(seed, {}, seed % 2 == 0, Dtype::fp32));
  }
  for (Case& c : all)
    c.recipe.weight_decay = Choice{"decoupled", {{"lambda", Decimal{"0.25"}}, {"exclude", std::vector<std::string>{}}}};
  return all;
}

TEST(FollowedInputs, AreWhatTheStageBeforeLeft) {
  for (const Case& c : cases()) {
    const auto checks = local_lens(c, as_seen(run(c)), {}, true);
    EXPECT_FALSE(checks.empty());
    EXPECT_EQ(first_failure(checks), nullptr) << told(first_failure(checks));
    EXPECT_EQ(count(checks, Status::not_run), 0u) << missing(checks);
  }
}

TEST(FollowedInputs, AreAskedForWhereTheyAreNotFollowed) {
  const Case c = small_attention_model(1);
  EXPECT_GT(count(local_lens(c, as_seen(run(c))), Status::not_run), 0u);
}

TEST(FollowedInputs, LeaveAWrongOutputWhereItIs) {
  const Case c = cases().front();
  const Trace seen = as_seen(run(c));
  std::size_t held = 0;
  for (const Tap& tap : seen.taps()) {
    const bool by_rounding = tap.value.dtype == Dtype::fp32 && tap.value.elements() > 1;
    if (!by_rounding) continue;
    ++held;
    const Trace wrong = changed(seen, tap.name.text(), [](Tensor& value) {
      value.set(0, 2 * value.value(0) + 1);
      return true;
    });
    const auto checks = local_lens(c, wrong, {}, true);
    ASSERT_NE(first_failure(checks), nullptr) << tap.name.text();
    EXPECT_EQ(first_failure(checks)->tap, tap.name.text());
  }
  EXPECT_GT(held, 20u);
}

/// A decay that leaves no tap is held together with the step: left out, the step is wrong.
TEST(FollowedInputs, HoldADecayWithItsStep) {
  Case c = cases().front();
  const Trace seen = as_seen(run(c));
  Case without = c;
  without.recipe.weight_decay = Choice{"none", {}};
  Trace other = as_seen(run(without));
  other.case_hash = seen.case_hash;
  Trace unseen;
  unseen.case_hash = seen.case_hash;
  for (const Tap& tap : other.taps()) unseen.add(tap.name, tap.value);
  const auto checks = local_lens(c, unseen, {}, true);
  ASSERT_NE(first_failure(checks), nullptr);
  EXPECT_EQ(first_failure(checks)->stage, "optimizer");
}

}  // namespace
}  // namespace tally::followed_inputs_test
