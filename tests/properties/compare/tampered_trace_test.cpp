// Traces with one thing wrong: the lens must name the stage, and nothing earlier.
#include "properties/judge/lens.hpp"
#include "tests/properties/compare/changed_trace.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::tampered_trace_test {
namespace {

/// Flips the second highest bit of the significand.
bool flip(Tensor& tensor) {
  const unsigned significand = tensor.dtype == Dtype::fp32 ? 23 : tensor.dtype == Dtype::fp16 ? 10 : 7;
  const std::size_t i = tensor.elements() / 2;
  tensor.set_bits(i, tensor.bits(i) ^ (std::uint64_t{1} << (significand - 2)));
  return true;
}

bool make_nan(Tensor& tensor) {
  tensor.set(tensor.elements() / 2, std::nan(""));
  return true;
}

/// Changes every n-th float tap alone, from the first-th on. The first failing check must stand at that tap's stage (a
/// stage taps its parameter before its moments), or at the hand-over where the stage itself has no signal to lose.
template <class F>
void expect_found(const Case& c, std::size_t first_tap, std::size_t every, F&& change) {
  const Trace clean = run(c);
  std::set<std::string> vacuous;
  for (const TensorCheck& check : local_lens(c, clean)) {
    if (check.status == Status::vacuous) vacuous.insert(check.tap);
  }
  std::size_t tampered = 0;
  for (std::size_t i = first_tap; i < clean.taps().size(); i += every) {
    const Tap& tap = clean.taps()[i];
    if (tap.value.dtype == Dtype::i64 || tap.value.dtype == Dtype::u8) continue;
    const auto checks = local_lens(c, changed(clean, tap.name.text(), change));
    const TensorCheck* found = first_failure(checks);
    ASSERT_NE(found, nullptr) << tap.name.text() << " changed in silence";
    if (!vacuous.contains(tap.name.text())) {
      EXPECT_EQ(found->stage, tap.name.stage) << tap.name.text() << " " << told(found);
    }
    const bool own =
        found->tap == tap.name.text() || tap.name.stage == "optimizer" || vacuous.contains(tap.name.text());
    EXPECT_TRUE(own) << tap.name.text() << " " << told(found);
    ++tampered;
  }
  EXPECT_GT(tampered, 0u);
}

TEST(LocalLens, FindsAFlippedBitAtItsOwnStage) {
  expect_found(normal_everything(1), 0, 2, flip);
  expect_found(normal_everything(1, Dtype::fp16), 1, 4, flip);
  expect_found(normal_everything(1, Dtype::bf16), 2, 4, flip);
}

TEST(LocalLens, FindsANanAtItsOwnStage) { expect_found(normal_everything(1), 1, 4, make_nan); }

TEST(LocalLens, CallsANanWhereAFiniteValueIsCertainNonFinite) {
  const Case c = normal_case(1);
  const auto checks = local_lens(c, changed(run(c), "w0/m0/forward/fc1.y", make_nan));
  ASSERT_NE(first_failure(checks), nullptr);
  EXPECT_EQ(first_failure(checks)->failure, FailureClass::non_finite);
}

TEST(LocalLens, NamesEveryMissingTapAsNotRunAndFailsNothing) {
  const Case c = normal_everything(1);
  const Trace clean = run(c);
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < clean.taps().size(); i += 2) {
    const Tap& tap = clean.taps()[i];
    if (tap.name.stage == "count") continue;  // which need not be told
    const auto checks = local_lens(c, changed(clean, tap.name.text(), [](Tensor&) { return false; }));
    EXPECT_EQ(first_failure(checks), nullptr) << tap.name.text() << " missing: " << told(first_failure(checks));
    EXPECT_GE(count(checks, Status::not_run), 1u) << tap.name.text();
    const bool named = std::any_of(checks.begin(), checks.end(), [&](const TensorCheck& check) {
      return check.status == Status::not_run && check.tap == tap.name.text();
    });
    EXPECT_TRUE(named) << tap.name.text();
    ++left_out;
  }
  EXPECT_GT(left_out, 0u);
}

TEST(LocalLens, FindsADroppedRowOfAWeightGradient) {
  const Case c = normal_case(1);
  Trace trace = run(c);
  const Tensor x = *trace.find("w0/m1/backward/in.fc2.x"), dy = *trace.find("w0/m1/backward/in.d.fc2.y");
  const auto drop = [&](Tensor& gradient) {
    const auto in = static_cast<std::size_t>(x.shape[1]), out = static_cast<std::size_t>(dy.shape[1]);
    for (std::size_t o = 0; o < out; ++o) {
      for (std::size_t i = 0; i < in; ++i) {
        gradient.set(o * in + i, gradient.value(o * in + i) - dy.value(o) * x.value(i));
      }
    }
    return true;
  };
  const auto checks = local_lens(c, changed(trace, "w0/m1/backward/d.fc2.weight", drop));
  ASSERT_NE(first_failure(checks), nullptr);
  EXPECT_EQ(first_failure(checks)->tap, "w0/m1/backward/d.fc2.weight");
}

TEST(EndToEndLens, FindsAWindowDividedByTheWrongCount) {
  Case c = mlp(5);
  const Trace trace = run(c);
  Case other = c;
  other.normalisation = Normalisation::sum;
  const auto checks = end_to_end_lens(other, trace);
  ASSERT_NE(first_failure(checks), nullptr);
  EXPECT_EQ(first_failure(checks)->stage, "loss");
}

TEST(EndToEndLens, FindsAMaskThatContradictsACertainInterval) {
  const Case c = mlp(5);
  const auto off = [](Tensor& y) {
    for (std::size_t i = 0; i < y.elements(); ++i) {
      if (y.value(i) > 0.5) y.set(i, 0);
    }
    return true;
  };
  const auto checks = end_to_end_lens(c, changed(run(c), "w0/m2/forward/relu#1.y", off));
  ASSERT_NE(first_failure(checks), nullptr);
  EXPECT_EQ(first_failure(checks)->tap, "w0/m2/forward/relu#1.y");
}

TEST(LocalLens, CallsAWrongOverflowDecisionASkipDecision) {
  const Case c = normal_everything(1);
  const auto decide = [](Tensor& found) {
    found.set(0, 1);
    return true;
  };
  const auto checks = local_lens(c, changed(run(c), "w0/overflow_check/found", decide));
  ASSERT_NE(first_failure(checks), nullptr);
  EXPECT_EQ(first_failure(checks)->tap, "w0/overflow_check/found");
  EXPECT_EQ(first_failure(checks)->failure, FailureClass::skip_decision);
}

}  // namespace
}  // namespace tally::tampered_trace_test
