// The hard lenses on attention: clean runs pass by every kernel, in every format, and a run with one thing wrong fails
// where it is wrong.
#include <cmath>
#include <tuple>

#include "oracle/case/io.hpp"
#include "tests/kernels/attention_case.hpp"
#include "tests/properties/compare/changed_trace.hpp"
#include "tests/properties/compare/clean_run.hpp"

namespace tally::attention_test {
namespace {

const Dtype formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

TEST(Attention, PassesBothLensesOnPaper) { expect_clean(equal_scores_case(), {}, "equal scores"); }

TEST(Attention, LeavesOnPaperWhatItLeaves) {
  const Trace trace = run(equal_scores_case());

  EXPECT_EQ(*trace.find("w0/m0/forward/att.y"), one_column({1, 2}));
  EXPECT_EQ(trace.find("w0/m0/forward/att.lse")->shape, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(*trace.find("w0/m0/backward/att.delta"), one_column({2, 4}));
  EXPECT_EQ(*trace.find("w0/m0/backward/d.att.q"), one_column({0, 0}));
  EXPECT_EQ(*trace.find("w0/m0/backward/d.att.k"), one_column({-2, 2}));
  EXPECT_EQ(*trace.find("w0/m0/backward/d.att.v"), one_column({3, 1}));
}

TEST(Attention, PassesCleanRunsInEveryFormatAndByEveryKernel) {
  const char* const forwards[] = {"naive",       "online_blocks",   "online_pairs", "eager",
                                  "online_cast", "online_cast_sum", "online_exp2"};
  const char* const backwards[] = {"naive", "recompute_blocks", "recompute_cast", "recompute_atomic"};
  for (const Dtype storage : formats) {
    for (unsigned seed = 1; seed <= 36; ++seed) {
      Options options;
      if (seed % 4 == 0) options["causal"] = false;
      if (seed % 5 == 0) options["window"] = std::int64_t{2};
      if (seed % 8 > 4) options["p"] = Decimal{seed % 2 == 0 ? "0.5" : "0.25"};
      if (seed % 3 == 0) options["kv_heads"] = std::int64_t{seed % 2 == 0 ? 1 : 4};
      Case c = small_attention_model(seed, storage, options, seed % 2 == 0 ? "layer_norm" : "rms_norm");
      c.execution.kernels["attention.forward"] = forwards[seed % 7];
      c.execution.kernels["attention.backward"] = backwards[seed / 2 % 4];
      c.execution.recompute = seed % 3 == 0;
      expect_clean(c, {}, std::string(name_of(storage)) + " " + std::to_string(seed));
    }
  }
}

/// A kernel that stores weights in 16 bits before they weigh, and says that it does not, is found; one that says nothing
/// of itself may do either.
TEST(Attention, HoldsAKernelToTheCastsThatItClaims) {
  Case c = small_attention_model(8, Dtype::bf16);
  for (const auto& [operation, variant, tap, plain] :
       {std::tuple{"attention.forward", "eager", "forward/att.y", "naive"},
        {"attention.forward", "online_cast", "forward/att.y", "online"},
        {"attention.forward", "online_cast_sum", "forward/att.y", "online"},
        {"attention.backward", "recompute_cast", "backward/d.att.", "recompute"}}) {
    c.execution.kernels = {{operation, variant}};
    Trace trace = run(c);
    trace.claims.kernels.at(operation).algorithm = plain;
    const TensorCheck* first = nullptr;
    const auto checks = hard_lenses(c, trace, Grouping::declared).checks;
    first = first_failure(checks);
    ASSERT_NE(first, nullptr) << variant;
    EXPECT_NE(first->tap.find(tap), std::string::npos) << variant << " " << first->tap;
    trace.claims.kernels.at(operation).algorithm = "";
    const auto unclaimed = hard_lenses(c, trace, Grouping::declared).checks;
    EXPECT_EQ(first_failure(unclaimed), nullptr) << variant << " " << told(first_failure(unclaimed));
  }
}

/// The lse is a float: beside scores of 2^40 it is off by 2^16, and e to that is out of every range. Such a weight is
/// undecided, and no right kernel is accused of it.
TEST(Attention, PassesWhereScoresAreFarFromTheirLse) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Case c = small_attention_model(seed);
    for (const char* name : {"q.weight", "k.weight"}) {
      Tensor& weight = c.tensors.at(name);
      for (std::size_t i = 0; i < weight.elements(); ++i) weight.set(i, std::ldexp(weight.value(i), 20));
    }
    const auto checks = hard_lenses(c, run(c), Grouping::declared).checks;
    EXPECT_EQ(first_failure(checks), nullptr) << seed << " " << told(first_failure(checks));
  }
}

TEST(Attention, HoldsTheMaskThatWasReadToTheCase) {
  const Case c = small_attention_model(5, Dtype::fp32, {{"p", Decimal{"0.5"}}});
  const Trace trace = changed(run(c), "w0/m1/forward/in.att.mask", [](Tensor& value) {
    value.set(0, 1 - value.value(0));
    return true;
  });
  const auto checks = hard_lenses(c, trace, Grouping::declared).checks;
  const TensorCheck* first = first_failure(checks);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tap, "w0/m1/forward/in.att.mask");
}

/// One element of a tap moved by far more than its bound: the check of that tap fails, and no earlier one.
TEST(Attention, FailsWhereATapIsWrong) {
  const Case c = small_attention_model(5);
  for (const char* tap : {"w0/m0/forward/att.y", "w0/m0/forward/att.lse", "w0/m0/backward/att.delta",
                          "w0/m0/backward/d.att.q", "w0/m0/backward/d.att.k", "w0/m0/backward/d.att.v"}) {
    const Trace trace = changed(run(c), tap, [](Tensor& value) {
      value.set(1, value.value(1) * 2 + 1);
      return true;
    });
    const auto checks = hard_lenses(c, trace, Grouping::declared).checks;
    const TensorCheck* first = first_failure(checks);
    ASSERT_NE(first, nullptr) << tap;
    EXPECT_EQ(first->tap, tap);
  }
}

/// What backward reads is what forward left.
TEST(Attention, HoldsWhatBackwardReadsToWhatForwardLeft) {
  const Case c = small_attention_model(6);
  for (const char* tap : {"w0/m0/backward/in.att.lse", "w0/m0/backward/in.att.y", "w0/m0/backward/in.att.k"}) {
    const Trace trace = changed(run(c), tap, [](Tensor& value) {
      value.set(0, value.value(0) * 2 + 1);
      return true;
    });
    const auto checks = hard_lenses(c, trace, Grouping::declared).checks;
    const TensorCheck* first = first_failure(checks);
    ASSERT_NE(first, nullptr) << tap;
    EXPECT_EQ(first->tap, tap);
  }
}

/// Without what is kept between forward and backward the bounds are wider, and a right run passes all the same.
TEST(Attention, IsJudgedWithoutWhatIsKept) {
  const Case c = small_attention_model(7);
  Trace trace;
  const Trace whole = run(c);
  trace.case_hash = whole.case_hash;
  trace.claims = whole.claims;
  for (const Tap& tap : whole.taps())
    if (!tap.name.tensor.ends_with("att.lse") && !tap.name.tensor.ends_with("att.delta") &&
        tap.name.tensor != "in.att.y")
      trace.add(tap.name, tap.value);
  const auto checks = hard_lenses(c, trace, Grouping::inferred).checks;
  EXPECT_EQ(first_failure(checks), nullptr) << told(first_failure(checks));
  EXPECT_EQ(count(checks, Status::not_run), 0u) << missing(checks);
}

}  // namespace
}  // namespace tally::attention_test
