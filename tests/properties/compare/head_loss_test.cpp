// Head and loss as one: the lenses hold what is left to the two composed, with logits that are never stored.
#include "properties/campaign/provenance/operation.hpp"
#include "properties/judge/groups.hpp"
#include "tests/kernels/token_case.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::head_loss_test {
namespace {

const Dtype formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

/// Eleven tokens of a vocabulary of five, in micro-batches of one chunk and of several; the head's bias on request.
Case with_head(Dtype storage, const std::string& tied = "", bool bias = true) {
  Case c = small_case();
  c.name = "head and loss as one";
  c.precision.storage = storage;
  c.model.tokens = true;
  c.model.input = 5;
  c.model.layers = {layer_of("embedding", "wte", {{"width", std::int64_t{4}}}),
                    layer_of("linear", "head", {{"out", std::int64_t{5}}, {"bias", bias}})};
  c.model.layers.back().tied = tied;
  c.model.loss = choice_of("loss", "cross_entropy", {{"shift", true}, {"z_loss", Decimal{"0.01"}}});
  c.windows = {{7, 4}};
  c.sequences = {2, 1, 4, 4};
  c.execution.kernels = {{"head_loss", "chunked"}};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 5);
  return c;
}

std::vector<TensorCheck> judged(const Case& c, const Trace& trace) {
  return hard_lenses(c, trace, Grouping::declared).checks;
}

TEST(HeadLoss, LeavesNoLogitsAndSaysSo) {
  const Trace trace = run(with_head(Dtype::bf16));

  EXPECT_EQ(trace.groups, (std::vector<StageGroup>{{"forward", "backward"}}));
  EXPECT_EQ(trace.claims.kernels.at("head_loss").variant, "chunked");
  for (const char* tap : {"forward/head.y", "loss/in.y", "loss/d.y", "backward/in.d.head.y"})
    EXPECT_EQ(trace.find(std::string("w0/m0/") + tap), nullptr) << tap;
  for (const char* tap : {"loss/loss", "backward/d.head.x", "backward/d.head.weight", "backward/d.head.bias"})
    EXPECT_NE(trace.find(std::string("w0/m0/") + tap), nullptr) << tap;
}

TEST(HeadLoss, PassesEveryLensInEveryFormat) {
  for (const Dtype storage : formats) {
    for (const std::string tied : {"", "wte"}) {
      for (const bool recomputes : {false, true}) {
        Case c = with_head(storage, tied);
        c.execution.recompute = recomputes;
        const auto checks = judged(c, run(c));
        EXPECT_EQ(first_failure(checks), nullptr) << tied << " " << told(first_failure(checks));
        EXPECT_EQ(count(checks, Status::not_run), 0u) << tied << " " << missing(checks);
      }
    }
  }
}

TEST(HeadLoss, PassesWithoutBiasAndWithAFrozenHead) {
  for (const Dtype storage : formats) {
    Case frozen = with_head(storage);
    frozen.model.layers.back().trainable = false;
    for (const Case& c : {with_head(storage, "", false), frozen}) {
      const auto checks = judged(c, run(c));
      EXPECT_EQ(first_failure(checks), nullptr) << told(first_failure(checks));
      EXPECT_EQ(count(checks, Status::not_run), 0u) << missing(checks);
    }
  }
}

/// In fp32 nothing is lost by a logit that is stored, and sums of products go from the first term to the last in both.
TEST(HeadLoss, LeavesTheBitsOfItsStagesInFp32) {
  const Case c = with_head(Dtype::fp32);
  Case apart = c;
  apart.execution.kernels.clear();
  const Trace fused = run(c), separate = run(apart);
  ASSERT_FALSE(fused.taps().empty());
  for (const Tap& tap : fused.taps()) {
    const Tensor* other = separate.find(tap.name.text());
    ASSERT_NE(other, nullptr) << tap.name.text();
    EXPECT_TRUE(*other == tap.value) << tap.name.text();
  }
}

/// A run whose logits were stored claims what it did not do.
TEST(HeadLoss, IsNotWhatStoredLogitsLeave) {
  Case c = with_head(Dtype::bf16);
  c.execution.kernels.clear();
  Trace trace = run(c), claimed;
  claimed.claims = trace.claims;
  claimed.claims.kernels["head_loss"] = {.variant = "chunked", .algorithm = "three_pass"};
  claimed.groups = {{"forward", "backward"}};
  for (const Tap& tap : trace.taps()) {
    const std::string& tensor = tap.name.tensor;
    const bool logits = tensor == "head.y" || tensor == "in.y" || tensor == "d.y" || tensor == "in.d.head.y";
    if (!logits) claimed.add(tap.name, tap.value);
  }
  const auto checks = judged(c, claimed);
  const TensorCheck* failure = first_failure(checks);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->lens, "group");
  EXPECT_EQ(failure->tap, "w0/m0/loss/loss");
  EXPECT_EQ(failure->stage, "forward..loss");
}

/// A run one number of which is wrong.
Trace damaged(const Case& c, const std::string& tap) {
  const Trace right = run(c);
  Trace wrong;
  wrong.claims = right.claims;
  wrong.groups = right.groups;
  for (const Tap& each : right.taps()) {
    Tensor value = each.value;
    if (each.name.text() == tap) value.set(1, value.value(1) * 1.5 + 0.125);
    wrong.add(each.name, value);
  }
  return wrong;
}

TEST(HeadLoss, NamesTheGroupOfAGradientThatIsWrong) {
  const Case c = with_head(Dtype::bf16);
  const std::string tap = "w0/m0/backward/d.head.weight";
  const auto checks = judged(c, damaged(c, tap));
  const TensorCheck* failure = first_failure(checks);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->tap, tap);
  EXPECT_EQ(failure->stage, "forward..backward");
}

/// Not that of a product by itself, which the layers before it run.
TEST(HeadLoss, NamesItsKernelWhereAGradientIsWrong) {
  const std::pair<const char*, const char*> damages[] = {
      {"", "d.head.weight"}, {"", "d.head.bias"}, {"", "d.head.x"}, {"wte", "d.wte.weight@head"}};
  for (const auto& [tied, tensor] : damages) {
    const Case c = with_head(Dtype::bf16, tied);
    const std::string tap = std::string("w0/m0/backward/") + tensor;
    const Trace wrong = damaged(c, tap);
    const auto checks = judged(c, wrong);
    ASSERT_NE(first_failure(checks), nullptr) << tap;
    ASSERT_EQ(first_failure(checks)->tap, tap);
    EXPECT_EQ(failing_kernel(c, checks, wrong.claims), "head_loss/chunked, kernels/losses/head_loss.cu") << tap;
  }
}

TEST(HeadLoss, CountsForNothingWhereTheCaseEndsOtherwise) {
  Case c = small_case();
  c.execution.kernels = {{"head_loss", "chunked"}};
  c.model.loss = choice_of("loss", "mse");
  c.tensors.clear();
  fill_tensors(c);
  const Trace trace = run(c);
  EXPECT_FALSE(trace.claims.kernels.contains("head_loss"));
  EXPECT_TRUE(trace.groups.empty());
}

}  // namespace
}  // namespace tally::head_loss_test
