// Stages whose claim fixes every rounding are held to their bits; without the claim, or where a constant may be either
// of two floats, to their bounds.
#include <gtest/gtest.h>

#include "tests/properties/compare/lens_cases.hpp"

namespace tally::predicted_bits_test {
namespace {

/// The recipes, with the layers and the loss whose bits are predicted.
std::map<std::string, Case> predicted_cases() {
  std::map<std::string, Case> cases = recipes();
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    cases["everything in " + std::string(name_of(storage))] = normal_everything(3, storage);
  }
  Case c = normal_case(5);
  c.model.layers = {layer_of("linear", "fc", {{"out", std::int64_t{6}}}), layer_of("layer_norm", "ln"),
                    layer_of("dropout", "drop", {{"p", Decimal{"0.3"}}}),
                    layer_of("batch_norm", "bn", {{"statistics", std::string("frozen")}})};
  c.model.loss = choice_of("loss", "mse");
  c.recipe.optimizer = choice_of("optimizer", "adam");
  c.recipe.weight_decay = choice_of("weight_decay", "decoupled", {{"lambda", Decimal{"0.01"}}});
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 5);
  cases["norms, dropout, mse, AdamW"] = c;
  c.precision.master = Dtype::bf16;
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 5);
  cases["the same with a bf16 master"] = c;
  return cases;
}

Trace without_claims(Trace trace) {
  for (auto& [operation, claim] : trace.claims.kernels) claim.as_written = false;
  return trace;
}

const TensorCheck* check_of(const std::vector<TensorCheck>& checks, const std::string& tap) {
  for (const TensorCheck& check : checks) {
    if (check.lens == "local" && check.tap == tap) return &check;
  }
  return nullptr;
}

bool is_predicted(const std::string& tap) {
  const TapName name = tap_name_of(tap);
  if (name.tensor.starts_with("in.")) return false;
  const bool update = name.stage == "optimizer" || name.stage == "decay" || name.stage == "running_stats";
  return update || name.tensor == "coefficient";
}

TEST(PredictedBits, HoldInEveryRecipeAndFormat) {
  std::size_t known = 0;
  for (const auto& [name, c] : predicted_cases()) {
    const auto checks = local_lens(c, run(c));
    ASSERT_EQ(first_failure(checks), nullptr) << name << ": " << told(first_failure(checks));
    for (const TensorCheck& check : checks) {
      if (!is_predicted(check.tap)) continue;
      EXPECT_EQ(check.norm_bound, 0) << name << ": " << check.tap;
      ++known;
    }
  }
  EXPECT_GT(known, 100u);
}

TEST(PredictedBits, AgreeWithTheBoundsOfASubjectThatClaimsNothing) {
  std::size_t bounded = 0;
  for (const auto& [name, c] : predicted_cases()) {
    const auto checks = local_lens(c, without_claims(run(c)));
    ASSERT_EQ(first_failure(checks), nullptr) << name << ": " << told(first_failure(checks));
    for (const TensorCheck& check : checks) bounded += is_predicted(check.tap) && check.norm_bound > 0;
  }
  EXPECT_GT(bounded, 100u);
}

/// The last bit of one element of every output that is predicted: inside its bound, most often.
TEST(PredictedBits, ShowOneWrongBitThatTheBoundAdmits) {
  const Case c = predicted_cases().at("norms, dropout, mse, AdamW");
  const Trace clean = run(c);
  std::size_t admitted = 0;
  for (const TensorCheck& check : local_lens(c, clean)) {
    const TapName name = tap_name_of(check.tap);
    if (check.norm_bound != 0 || check.zero_signal || name.tensor.starts_with("in.")) continue;
    if (name.stage != "optimizer" && name.stage != "decay" && name.stage != "running_stats") continue;
    Trace changed = clean;
    Tensor tapped = *clean.find(check.tap);
    if (tapped.dtype != Dtype::fp32 || tapped.elements() == 0) continue;
    tapped.set_bits(0, tapped.bits(0) ^ 1U);
    changed.add(name, tapped);
    const std::vector<TensorCheck> checks = local_lens(c, changed);
    const TensorCheck* found = check_of(checks, check.tap);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->status, Status::fail) << check.tap;
    EXPECT_EQ(found->failure, FailureClass::logic) << check.tap;
    if (found->bound == 0) {
      EXPECT_EQ(found->differing, 1u) << check.tap;
    }
    const std::vector<TensorCheck> unclaimed = local_lens(c, without_claims(changed));
    admitted += check_of(unclaimed, check.tap)->status == Status::pass;
  }
  EXPECT_GT(admitted, 3u);
}

/// 1 - beta2 comes out of a cancellation: its fp32 is not certain.
TEST(PredictedBits, FallBackToTheBoundWhereAConstantIsUncertain) {
  Case c = normal_case(9);
  c.recipe.optimizer = choice_of("optimizer", "adam", {{"beta2", Decimal{"0.9999999999"}}});
  const auto checks = local_lens(c, run(c));
  const std::string weight = parameters_of(c.model).front();
  const TensorCheck* moment = check_of(checks, TapName{0, -1, "optimizer", "exp_avg_sq." + weight}.text());

  ASSERT_NE(moment, nullptr);
  EXPECT_EQ(moment->status, Status::pass);
  EXPECT_GT(moment->norm_bound, 0);
}

}  // namespace
}  // namespace tally::predicted_bits_test
