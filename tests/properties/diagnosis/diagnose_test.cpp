#include "properties/diagnosis/diagnose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "oracle/case/io.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/evidence.hpp"
#include "properties/faults/trials/trials.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/law.hpp"
#include "tests/kernels/attention_case.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::diagnose_test {
namespace {

FaultRecord record_of(const std::string& fault) {
  CampaignOptions options;
  options.processes = 1;
  options.smallest_caught = false;
  return run_faults({fault}, options).at(0);
}

std::string likeliest(const std::string& fault) {
  const FaultRecord record = record_of(fault);
  return record.suspects.empty() ? "" : record.suspects.front().name;
}

/// What is right to be zero in most places is zero in the rest by many bugs.
TEST(Diagnose, ATensorThatIsMostlyRightToBeZeroIsNotCalledCleared) {
  const Case c;
  const Trace trace;
  const TensorCheck check;
  const Evidence nothing(c, trace, check);
  const Bug& cleared = *find_bug("all-zero");
  const TapName name = tap_name_of("w0/unscale/d.fc.weight");

  EXPECT_EQ(cleared.left(nothing, {name, Dtype::fp32, {0, 0, 0, 5}, {0, 0, 0, 0}}), std::nullopt);
  EXPECT_NE(cleared.left(nothing, {name, Dtype::fp32, {0, 1, 2, 5}, {0, 0, 0, 0}}), std::nullopt);
}

/// A mask of dropped weights has no element for rows of two sequences: nothing is known of them.
TEST(Diagnose, AttentionThatDropsWeightsIsNotTriedAcrossSequences) {
  const auto ways = [](const char* p) {
    const Case c = small_attention_model(5, Dtype::fp32, {{"p", Decimal{p}}});
    const Trace trace = run(c);
    TensorCheck check;
    check.tap = "w0/m0/forward/att.y";
    Evidence evidence(c, trace, check);
    Values right;
    const Tensor& y = *trace.find(check.tap);
    for (std::size_t i = 0; i < y.elements(); ++i) right.push_back(y.value(i));
    evidence.held = {{tap_name_of(check.tap), Dtype::fp32, right, Values(right.size(), 1.0)}};
    return find_bug("packed-attention-crosses")->hypotheses(evidence).size();
  };
  EXPECT_EQ(ways("0"), 1u);
  EXPECT_EQ(ways("0.5"), 0u);
}

/// What `output-left-as` says a tensor of these numbers would be, were all from element 2 on zero.
std::optional<Values> with_a_tail_of_zeros(const Values& right) {
  const Case c;
  const Trace trace;
  TensorCheck check;
  check.tap = "w0/unscale/d.fc.weight";
  Evidence evidence(c, trace, check);
  Values got = right;
  std::fill(got.begin() + 2, got.end(), 0);
  evidence.held = {{tap_name_of(check.tap), Dtype::fp32, right, got}};
  for (const Hypothesis& way : find_bug("output-left-as")->hypotheses(evidence))
    if (way.sentence == "elements from 2 on are zero") return way.left.front();
  ADD_FAILURE() << "no such way";
  return std::nullopt;
}

TEST(Diagnose, APartThatIsMostlyRightToBeZeroIsNotCalledUnwritten) {
  EXPECT_EQ(with_a_tail_of_zeros({1, 2, 5, 0, 0, 0}), std::nullopt);
  EXPECT_EQ(with_a_tail_of_zeros({1, 2, 5, 6, 0, 7}), (Values{1, 2, 0, 0, 0, 0}));
}

/// Two bugs of one stage whose formulas are easily taken for each other: each must point to its own suspect.
TEST(Diagnose, AWrongSuspectDoesNotWinOnCrossedPairs) {
  EXPECT_EQ(likeliest("overwrite-not-add"), "last-only");
  EXPECT_EQ(likeliest("microstep-dropped"), "microstep-dropped");
  EXPECT_EQ(likeliest("mean-of-means"), "mean-of-means");
  EXPECT_EQ(likeliest("denominator-counts-ignored"), "denominator-counts-ignored");
  EXPECT_EQ(likeliest("clip-before-unscale"), "clip-before-unscale");
  EXPECT_EQ(likeliest("clip-local-norm"), "clip-local-norm");
  EXPECT_EQ(likeliest("tail-row-dropped"), "tail-row-dropped");
  EXPECT_EQ(likeliest("half-accumulator"), "half-accumulator");
  EXPECT_EQ(likeliest("overflow-not-checked"), "overflow-not-checked");
  EXPECT_EQ(likeliest("found-inf-last-microbatch-only"), "found-inf-last-microbatch-only");
}

TEST(Diagnose, AWrongSuspectDoesNotWinOnCrossedPairsOfOneTensor) {
  EXPECT_EQ(likeliest("adamw-vs-adam-decay"), "adamw-vs-adam-decay");
  EXPECT_EQ(likeliest("wrapper-drops-decay"), "decay-left-out");
  EXPECT_EQ(likeliest("decay-scaled-by-accumulation"), "decay-scaled-by-accumulation");
  EXPECT_EQ(likeliest("reported-norm-still-scaled"), "reported-norm-still-scaled");
  EXPECT_EQ(likeliest("clip-duplicate-count"), "clip-duplicate-count");
  EXPECT_EQ(likeliest("multi-tensor-norm-offset"), "multi-tensor-norm-offset");
  EXPECT_EQ(likeliest("boundary-off-by-one"), "boundary-off-by-one");
  EXPECT_EQ(likeliest("step-at-every-microbatch"), "step-at-every-microbatch");
  EXPECT_EQ(likeliest("forced-step-at-the-end"), "forced-step-at-the-end");
  EXPECT_EQ(likeliest("bias-correction-stuck"), "bias-correction-stuck");
  EXPECT_EQ(likeliest("bf16-accumulator"), "bf16-accumulator");
  EXPECT_EQ(likeliest("gradient-rounded-before-adding"), "gradient-rounded-before-adding");
  EXPECT_EQ(likeliest("missing-zero-between-windows"), "missing-zero-between-windows");
  EXPECT_EQ(likeliest("zero-grad-inside-loop"), "last-only");
  EXPECT_EQ(likeliest("buffer-rebuilt-on-new-shape"), "buffer-rebuilt-on-new-shape");
  EXPECT_EQ(likeliest("overflow-not-cleared"), "overflow-not-cleared");
}

/// Drawn cases show these in a way that their suspect's formula does not tell, or another tells better.
const std::set<std::string> told_otherwise{"average-is-a-sum",
                                           "bias-gradient-reversed",
                                           "clip-coefficient-not-capped",
                                           "clip-epsilon-dropped",
                                           "denominator-skipped-branch",
                                           "frozen-bn-uses-batch",
                                           "k-by-modulo-while-it-changes",
                                           "norm-in-half",
                                           "overflow-seen-by-one-rank",
                                           "rate-steps-by-ranks",
                                           "recompute-draws-again",
                                           "reduced-in-the-first-micro-batch",
                                           "running-stats-not-run",
                                           "stages-skip-apart",
                                           "stale-narrow-gradients-reduced",
                                           "state-advances-on-skip"};

/// Where two formulas are the same on a case (K = 2 makes K and K / (K - 1) one number), both must be said to be as good.
TEST(Diagnose, FaultsThatHaveASuspectLookLikeIt) {
  std::vector<std::string> known;
  for (const Fault* fault : faults())
    if (bug_of(*fault) != nullptr) known.push_back(fault->name);
  CampaignOptions options;
  options.processes = 1;
  options.smallest_caught = false;

  std::set<std::string> otherwise;
  std::string messages;
  for (const FaultRecord& record : run_faults(known, options)) {
    const std::string& own = bug_of(*find_fault(record.name))->name;
    const bool found = std::ranges::any_of(record.suspects, [&](const Suspicion& s) {
      const Suspicion& first = record.suspects.front();
      return s.name == own && s.share == first.share && s.parameters == first.parameters;
    });
    if (!found) otherwise.insert(record.name);
    EXPECT_TRUE(record.right_stage) << record.name << ": " << record.message;
    if (!found) messages += record.name + ": " + record.message + "\n";
  }
  EXPECT_FALSE(known.empty());
  EXPECT_EQ(otherwise, told_otherwise) << messages;
}

TEST(Diagnose, AForgottenPieceOfACheckpointLooksLikeIt) {
  const FaultRecord record = record_of("empty-shard-forgotten");

  ASSERT_FALSE(record.suspects.empty()) << record.message;
  EXPECT_EQ(record.suspects.front().name, "empty-shard-forgotten");
}

TEST(Diagnose, AListedSuspectExplainsMostOfTheError) {
  for (const char* fault : {"sum-not-mean", "double-unscale", "low-precision-accumulator", "bn-momentum-swapped"}) {
    const FaultRecord record = record_of(fault);
    ASSERT_FALSE(record.suspects.empty()) << fault;
    EXPECT_TRUE(record.right_suspect) << fault << " looks like " << record.suspects.front().name;
    EXPECT_GT(record.suspects.front().share, 0.99) << fault;
    EXPECT_NE(record.message.find("looks like " + record.suspects.front().name), std::string::npos) << record.message;
  }
}

TEST(Diagnose, TriesOnlyTheSuspectsThatAreAskedFor) {
  const std::string usual = record_of("sum-not-mean").suspects.at(0).name;
  {
    const OnlySuspects one({usual});
    const FaultRecord record = record_of("sum-not-mean");
    ASSERT_FALSE(record.suspects.empty());
    for (const Suspicion& suspicion : record.suspects) EXPECT_EQ(suspicion.name, usual);
  }
  const OnlySuspects none({});
  EXPECT_TRUE(record_of("sum-not-mean").suspects.empty());
}

TEST(Diagnose, ACleanRunHasNoSuspects) {
  CampaignOptions options;
  options.cases = 4;
  options.processes = 1;
  options.training = false;
  options.law_glob = "*_once*";
  const Results results = run_campaign(options);
  ASSERT_FALSE(results.cases.empty());

  for (const CaseRecord& c : results.cases) EXPECT_TRUE(c.suspects.empty()) << c.title;
}

/// A tensor that no formula explains: every element off by a number of its own.
TEST(Diagnose, AnErrorWithoutAFormulaHasNoSuspects) {
  CampaignOptions options;
  options.cases = 1;
  options.processes = 1;
  const FaultRecord seeded = record_of("microstep-dropped");
  const Case c = case_of_token(seeded.token);
  Trace trace;
  const Trace clean = run(c, {});
  for (const Tap& tap : clean.taps()) {
    Tap other = tap;
    const bool buffer = tap.name.stage == "accumulate" && tap.name.tensor.starts_with("buffer.");
    for (std::size_t i = 0; buffer && i < other.value.elements(); ++i) {
      other.value.set(i, other.value.value(i) + std::sin(double(7 * i + tap.name.tensor.size())));
    }
    trace.add(other.name, other.value);
  }
  const auto checks = local_lens(c, trace);
  ASSERT_NE(first_failure(checks), nullptr);

  EXPECT_TRUE(diagnose(c, trace, checks).empty()) << text_of(diagnose(c, trace, checks));
}

TEST(Bugs, SayWhatTheyAre) {
  ASSERT_FALSE(bugs().empty());
  for (const Bug* bug : bugs()) {
    EXPECT_FALSE(bug->sentence.empty()) << bug->name;
    EXPECT_FALSE(bug->formula.empty()) << bug->name;
    EXPECT_TRUE(bug->is_suspect() || bug->restated != nullptr) << bug->name;
  }
}

/// A fault stands where its bug may enter, and says nothing that the bug says.
TEST(Bugs, ArePlantedByFaultsThatNameThem) {
  for (const Fault* fault : faults()) {
    const Bug* bug = bug_of(*fault);
    if (bug == nullptr) {
      EXPECT_EQ(fault->bug, find_bug(fault->name) == nullptr ? "" : "none") << fault->name;
      EXPECT_FALSE(fault->stage.empty() || fault->wrong.empty()) << fault->name;
      continue;
    }
    EXPECT_NE(fault->bug, fault->name);
    EXPECT_NE(fault->wrong, bug->formula) << fault->name;
    EXPECT_EQ(fault->stage.empty(), bug->stages == std::vector{stage_of(*fault)}) << fault->name;
    EXPECT_TRUE(std::ranges::count(bug->stages, stage_of(*fault))) << fault->name << " enters at " << stage_of(*fault);
  }
}

/// No suspect divides by what a rank without rows has of a window.
TEST(Diagnose, ARankWithoutRowsInTheFirstWindow) {
  Case c = three::three_ranks();
  c.dealt = {{2, 0, 2}, {1, 1, 0}};
  const Trace trace = three::damaged(run(c), "w1/r1/unscale/in.buffer.fc1.weight", 1);

  const auto checks = local_lens(c, trace);

  ASSERT_NE(first_failure(checks), nullptr);
  for (const Suspicion& each : diagnose(c, trace, checks)) EXPECT_NE(each.name, "k-by-modulo-while-it-changes");
}

}  // namespace
}  // namespace tally::diagnose_test
