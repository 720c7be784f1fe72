#include "properties/diagnosis/vary/vary_verdict.hpp"

#include <gtest/gtest.h>

#include "tests/properties/vary/small_loop.hpp"

namespace tally::vary_verdict_test {
namespace {

using samples::again;
using samples::judged;
using samples::loop_of;
using samples::moved;
using samples::run_in;
using samples::SmallLoop;
using samples::whole;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A right loop that was judged, and run a second time as well.
VaryRuns right_and_again() {
  VaryRuns runs;
  judged(loop_of("right"), runs);
  runs.runs.push_back(samples::run_of(loop_of("right"), again));
  return runs;
}

TEST(VaryVerdict, passes_a_right_loop_and_says_how_far_the_low_precision_drifts) {
  const VaryReport report = judged(loop_of("right"));

  EXPECT_EQ(report.verdict, "pass") << report.sentence();
  EXPECT_GT(report.drift(), 0);
  EXPECT_LT(report.drift(), 0x1p-16);
  EXPECT_TRUE(has(report.what, "partitions of 8 rows give the whole batch's parameters; in float32 they end within"));
  EXPECT_TRUE(has(report.notes.back(), "the same in every partition"));
  EXPECT_EQ(report.by_tensor().front().name, "w");
}

TEST(VaryVerdict, names_mean_of_means_in_the_words_of_the_loop) {
  const VaryReport report = judged(loop_of("mean of means"));

  EXPECT_EQ(report.verdict, "fail");
  EXPECT_EQ(report.cause, "1/(K n_k)");
  EXPECT_EQ(report.partition.size(), 2u) << "two micro-batches are the coarsest that can fail";
  EXPECT_EQ(report.what, "each micro-batch's loss is divided by its own 2 rows and by K = 2");
  EXPECT_TRUE(report.change.starts_with("divide by the window's 8: `loss.sum() / 8`")) << report.change;
  EXPECT_EQ(place_text(report.place), "train.py:31 `loss.backward()`");
  EXPECT_TRUE(has(report.numbers, "a row weighs 0.0833, 0.25")) << report.numbers;
}

TEST(VaryVerdict, names_each_wrong_rule_by_its_weights) {
  const std::pair<const char*, const char*> rules[] = {{"sum of means", "1/n_k"},
                                                       {"divided twice", "1/K"},
                                                       {"last alone", "the last alone"},
                                                       {"a factor", "a factor"},
                                                       {"mean of items", "1/(K n_k)"},
                                                       {"share of rows", "n_k/N of t_k"},
                                                       {"clips before the last", "each later counts more"},
                                                       {"sends sums back", "each earlier counts more"},
                                                       {"signs before the last", "no sum of the micro-batches"},
                                                       {"steps each", "steps"}};
  for (const auto& [kind, cause] : rules) {
    const VaryReport report = judged(loop_of(kind));
    EXPECT_EQ(report.verdict, "fail") << kind;
    EXPECT_EQ(report.cause, cause) << kind << ": " << report.sentence();
  }
}

TEST(VaryVerdict, counts_items_where_they_were_seen) {
  const VaryReport report = judged(loop_of("mean of items"));

  EXPECT_TRUE(has(report.what, " items and by K = ")) << report.what;
}

TEST(VaryVerdict, tells_a_sum_of_means_from_a_factor_K_by_uneven_micro_batches) {
  VaryRuns runs;
  const VaryReport report = judged(loop_of("sum of means"), runs);

  EXPECT_EQ(report.partition, (Partition{4, 4}));
  ASSERT_EQ(runs.weights.size(), 2u);
  EXPECT_EQ(runs.weights.back().how.sizes, (Partition{3, 3, 2}));
}

TEST(VaryVerdict, says_which_tensors_differ) {
  const VaryReport report = judged(loop_of("mean of means"));

  EXPECT_TRUE(has(report.numbers, "(w alone)")) << report.numbers;
  for (const VaryTensorGap& tensor : report.by_tensor())
    EXPECT_EQ(tensor.kind, tensor.name == "w" ? "meaning" : "rounding");
}

TEST(VaryVerdict, looks_at_a_later_window_where_the_first_step_is_right) {
  const VaryReport report = judged(loop_of("stale"));

  EXPECT_EQ(report.cause, "stale gradient") << report.sentence();
  EXPECT_TRUE(has(report.what, "0.5 times window 0's gradient")) << report.what;
}

TEST(VaryVerdict, holds_batch_norm_still_and_names_it_where_the_gap_is_gone) {
  const VaryReport report = judged(loop_of("batch_norm"));

  EXPECT_EQ(report.verdict, "fail");
  EXPECT_EQ(report.cause, "batch_norm") << report.sentence();
  EXPECT_TRUE(
      has(report.what, "BatchNorm1d bn1 sees each micro-batch by itself: the gap is gone when BatchNorm is frozen"));
}

TEST(VaryVerdict, looks_behind_batch_norm_for_another_cause) {
  SmallLoop loop = loop_of("batch_norm and mean of means");
  loop.rows = 7;
  VaryRuns runs;
  const VaryReport report = judged(loop, runs);

  EXPECT_EQ(report.cause, "1/(K n_k)") << report.sentence();
  EXPECT_EQ(runs.weights.front().how.frozen, std::vector<std::string>{"batch_norm"});
  ASSERT_FALSE(report.notes.empty());
  EXPECT_TRUE(has(report.notes.front(), "with BatchNorm1d bn1 held still")) << report.notes.front();
}

TEST(VaryVerdict, calls_what_the_last_bits_turn_a_decision) {
  const VaryReport report = judged(loop_of("adam of noise"));

  EXPECT_EQ(report.verdict, "pass") << report.sentence();
  EXPECT_TRUE(std::ranges::any_of(report.gaps, [](const VaryGap& gap) { return gap.kind == "decision"; }));
  EXPECT_TRUE(has(report.what, ", but for noise, where rounding turns a decision in ")) << report.what;
  EXPECT_GT(report.drift(), 0);
  EXPECT_LT(report.drift(), 0x1p-16) << "of the tensor that differs by rounding alone";
}

TEST(VaryVerdict, names_the_tensor_that_is_not_finite) {
  const VaryReport report = judged(loop_of("leaves nan"));

  EXPECT_EQ(report.verdict, "fail");
  EXPECT_EQ(report.cause, "not finite");
  EXPECT_TRUE(has(report.what, "not finite in w")) << report.what;
}

TEST(VaryVerdict, judges_one_precision_by_what_half_an_ulp_does) {
  SmallLoop right = loop_of("right"), wrong = loop_of("mean of means");
  right.precisions = wrong.precisions = {"float32"};

  EXPECT_EQ(judged(right).verdict, "pass") << judged(right).sentence();
  EXPECT_EQ(judged(wrong).verdict, "fail");
}

TEST(VaryVerdict, refuses_a_whole_batch_that_cannot_be_a_reference) {
  VaryRuns runs;
  judged(loop_of("right"), runs);

  const auto cause_with = [&](const HowRun& how, auto change) {
    VaryRuns changed = runs;
    change(run_in(changed, how));
    const VaryReport report = vary_verdict(changed);
    EXPECT_EQ(report.verdict, "error") << report.sentence();
    return report.cause;
  };
  EXPECT_EQ(cause_with(whole,
                       [](VaryRun& run) {
                         run.error = VaryError{"ValueError", "no rows", "train.py", 3};
                       }),
            "error");
  EXPECT_EQ(cause_with(whole, [](VaryRun& run) { run.tensors[0].max = std::nan(""); }),
            "not finite in the whole batch");
  EXPECT_EQ(cause_with(whole, [](VaryRun& run) { run.trained = false; }), "nothing trained");
  EXPECT_EQ(cause_with(moved, [](VaryRun& run) { run.error = VaryError{"ValueError", "no", "train.py", 3}; }), "error");
}

TEST(VaryVerdict, goes_on_where_the_same_run_differs_by_rounding) {
  VaryRuns runs;
  judged(loop_of("adam of noise"), runs);
  run_in(runs, again).tensors[0].max = 0x1p-52;

  const VaryReport report = vary_verdict(runs);
  EXPECT_EQ(report.verdict, "pass");
  EXPECT_EQ(std::ranges::count(report.notes, report.notes.front()), 1);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_TRUE(has(report.notes.front(), "kernels that add in no fixed order")) << report.notes.front();
}

TEST(VaryVerdict, says_first_that_a_partition_holds_other_rows) {
  VaryRuns runs;
  judged(loop_of("mean of means"), runs);
  for (VaryRun& run : runs.runs) run.rows_hash = "a";
  run_in(runs, {.sizes = {4, 4}, .precision = "float64"}).rows_hash = "b";

  const VaryReport report = vary_verdict(runs);
  EXPECT_EQ(report.verdict, "error");
  EXPECT_EQ(report.cause, "other rows");
  EXPECT_TRUE(has(report.what, "micro-batches of 4, 4 rows have other rows"));
  run_in(runs, again).rows_hash = "c";
  EXPECT_TRUE(has(vary_verdict(runs).what, "has other rows when it is run again")) << vary_verdict(runs).what;
}

TEST(VaryVerdict, fails_where_a_partition_ends_in_an_error_and_none_has_a_gap) {
  VaryRuns runs = right_and_again();
  for (VaryRun& run : runs.runs) run.rows_hash = "of all rows";
  VaryRun& run = run_in(runs, {.sizes = {4, 4}, .precision = "float64"});
  run.error = VaryError{"ValueError", "two are too many", "train.py", 9};
  run.rows_hash = "of what was seen until then";
  const VaryReport report = vary_verdict(runs);

  EXPECT_EQ(report.verdict, "fail");
  EXPECT_EQ(report.cause, "error");
  EXPECT_EQ(report.partition, (Partition{4, 4}));
  EXPECT_TRUE(has(report.what, "4, 4 rows end with ValueError at train.py:9 (two are too many)")) << report.what;
}

TEST(VaryVerdict, says_that_no_gradient_was_seen_where_there_are_no_weights) {
  VaryRuns runs;
  judged(loop_of("mean of means"), runs);
  for (VaryWeights& weights : runs.weights) weights.found.clear(), weights.place = {};

  EXPECT_EQ(vary_verdict(runs).cause, "unknown");
  EXPECT_EQ(place_text(vary_verdict(runs).place), "") << "the loop's first line is no place";
}

TEST(VaryVerdict, calls_a_gap_a_decision_where_it_is_gone_once_all_is_moved) {
  VaryRuns runs;
  judged(loop_of("mean of means"), runs);
  for (VaryRun& run : runs.runs)
    if (!run.how.sizes.empty() && run.how.moved == 1) run.tensors[0].max = run.tensors[1].max = 0;

  const VaryReport report = vary_verdict(runs);
  EXPECT_EQ(report.verdict, "asks") << "the partitions behind the one that failed";
  EXPECT_EQ(report.gaps.back().kind, "decision");
}

TEST(VaryVerdict, keeps_to_the_boundary_either_way) {
  VaryRuns runs;
  judged(loop_of("right"), runs);
  runs.runs.push_back(samples::run_of(loop_of("right"), {.sizes = {4, 4}, .precision = "float32"}));
  VaryRun& high = run_in(runs, {.sizes = {4, 4}, .precision = "float64"});
  VaryRun& low = runs.runs.back();
  low.tensors[0].scale = high.tensors[0].scale = 1;
  low.tensors[0].max = 0x1p-10;
  const double boundary = vary_verdict(runs).boundary;
  high.tensors[0].max = boundary * 0x1p-10;

  EXPECT_EQ(boundary, std::sqrt(0x1p-29));
  EXPECT_EQ(vary_verdict(runs).verdict, "pass");
  high.tensors[0].max = std::nextafter(high.tensors[0].max, 1);
  EXPECT_EQ(vary_verdict(runs).verdict, "asks") << "it is asked whether a decision was turned";
  low.tensors[0].max = 0.5;
  EXPECT_EQ(vary_verdict(runs).verdict, "asks")
      << "what half ulps cannot do is no rounding: float32 trains another loop";
}

TEST(VaryVerdict, does_not_pass_where_rounding_turned_all_there_is) {
  const SmallLoop loop = loop_of("adam of noise");
  VaryRuns runs;
  judged(loop, runs);
  const auto keep_the_noise = [&] {
    for (VaryRun& run : runs.runs)
      std::erase_if(run.tensors, [](const VaryTensor& tensor) { return tensor.name != "noise"; });
  };
  keep_the_noise();
  for (const VaryGap& gap : vary_verdict(runs).gaps)
    if (gap.kind == "rounding") run_in(runs, {.sizes = gap.sizes, .precision = "float64"}).tensors[0].max = 1;
  while (!vary_verdict(runs).asks.empty()) {
    for (const HowRun& how : vary_verdict(runs).asks.runs) runs.runs.push_back(samples::run_of(loop, how));
    keep_the_noise();
  }

  const VaryReport report = vary_verdict(runs);
  EXPECT_EQ(report.verdict, "error") << report.sentence();
  EXPECT_EQ(report.cause, "decisions");
}

}  // namespace
}  // namespace tally::vary_verdict_test
