// The hard lenses on models whose layers name what they read: clean runs pass, and a run with one thing wrong fails where
// it is wrong.
#include "properties/judge/groups.hpp"
#include "tests/kernels/residual_case.hpp"
#include "tests/properties/compare/changed_trace.hpp"
#include "tests/properties/compare/clean_run.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::residual_test {
namespace {

const Dtype formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

Case drawn_case(std::vector<Layer> layers, unsigned seed, Dtype storage) {
  Case c = small_case();
  c.precision.storage = storage;
  c.model.layers = std::move(layers);
  c.windows = {{2, 3}, {4}};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, seed);
  return c;
}

Layer wide(const std::string& name) { return layer_of("linear", name, {{"out", std::int64_t{4}}}); }

/// Two blocks, the second of which reads one output twice, and a layer in the middle that reads the model's input.
Case two_blocks(unsigned seed, Dtype storage = Dtype::fp32) {
  return drawn_case(
      {wide("fc1"), layer_of("gelu", "act"), wide("fc2"), reading({"fc1", "fc2"}, layer_of("add", "first")),
       layer_of("layer_norm", "ln"), reading({"input"}, wide("short")),
       reading({"ln", "first", "short", "ln"}, layer_of("add", "second")),
       layer_of("linear", "fc3", {{"out", std::int64_t{3}}})},
      seed, storage);
}

/// A block around batch_norm and a ReLU, in lockstep where the statistics are the window's.
Case block_with_statistics(unsigned seed, const std::string& statistics) {
  return drawn_case(
      {wide("fc1"), layer_of("batch_norm", "bn", {{"statistics", statistics}}), layer_of("relu", "act"),
       reading({"fc1", "act"}, layer_of("add", "sum")), layer_of("linear", "fc2", {{"out", std::int64_t{3}}})},
      seed, Dtype::fp32);
}

/// The check of a tap by a lens; nullptr where there is none.
const TensorCheck* check_of(const std::vector<TensorCheck>& checks, const std::string& lens, const std::string& tap) {
  const auto found = std::find_if(checks.begin(), checks.end(),
                                  [&](const TensorCheck& check) { return check.lens == lens && check.tap == tap; });
  return found == checks.end() ? nullptr : &*found;
}

TEST(Residual, PassesBothLensesOnPaper) {
  for (const Case& c : {residual_case(), doubled_case()}) {
    expect_clean(c, {}, c.name);
    const auto checks = hard_lenses(c, run(c), Grouping::declared).checks;
    for (const char* lens : {"local", "end_to_end"}) {
      for (const char* tap : {"w0/m0/forward/sum.y", "w0/m0/fork/d.a.y", "w0/m0/backward/d.a.weight"}) {
        const TensorCheck* check = check_of(checks, lens, tap);
        ASSERT_NE(check, nullptr) << lens << " " << tap;
        EXPECT_EQ(check->status, Status::pass) << told(check);
      }
    }
  }
}

/// Where every sum loses what it can.
TEST(Residual, PassesWhereTheOrderOfASumShows) {
  for (const Dtype storage : formats)
    expect_clean(half_ulps_case(storage, half_an_ulp(storage)), {}, std::string(name_of(storage)));
}

TEST(Residual, PassesCleanRunsInEveryFormatAndOrder) {
  for (const Dtype storage : formats) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      RunOptions options;
      options.order_seed = seed - 1;
      expect_clean(two_blocks(seed, storage), options, std::string(name_of(storage)) + " " + std::to_string(seed));
    }
  }
}

TEST(Residual, PassesCleanRunsThatRecomputeActivations) {
  Case c = two_blocks(1);
  c.execution.recompute = true;
  expect_clean(c, {}, "recompute");
}

TEST(Residual, PassesCleanRunsWithBatchStatistics) {
  for (const char* statistics : {"micro_batch", "window", "frozen"})
    for (unsigned seed = 1; seed <= 4; ++seed) expect_clean(block_with_statistics(seed, statistics), {}, statistics);
}

/// Another subject claims nothing of its additions: bounds hold them, in any order.
TEST(Residual, PassesWithoutAClaimOfTheOrder) {
  for (const Dtype storage : formats) {
    const Case c = two_blocks(2, storage);
    Trace trace = run(c);
    for (const char* operation : {"add.forward", "gradient.add"}) {
      ASSERT_TRUE(trace.claims.kernels.contains(operation)) << operation;
      trace.claims.kernels.at(operation).as_written = false;
    }
    const auto checks = hard_lenses(c, trace, Grouping::declared).checks;
    EXPECT_EQ(first_failure(checks), nullptr) << told(first_failure(checks));
    EXPECT_EQ(count(checks, Status::not_run), 0u) << missing(checks);
  }
}

void expect_first_failure(const Case& c, const Trace& wrong, const std::string& tap) {
  const auto checks = local_lens(c, wrong);
  const TensorCheck* failure = first_failure(checks);
  ASSERT_NE(failure, nullptr) << tap << " changed in silence";
  EXPECT_EQ(failure->tap, tap) << told(failure);
  EXPECT_EQ(failure->failure, FailureClass::logic) << told(failure);
}

/// d.a.y without what sum gave: the short cut has no gradient.
TEST(Residual, FailsAtTheForkWhereAReaderIsForgotten) {
  const Case c = residual_case();
  const Trace clean = run(c);
  const Tensor of_b = *clean.find("w0/m0/fork/in.d.b.x");

  expect_first_failure(c, changed(clean, "w0/m0/fork/d.a.y", [&](Tensor& sum) { return sum = of_b, true; }),
                       "w0/m0/fork/d.a.y");
}

TEST(Residual, FailsAtTheSumWhereAnAddendIsForgotten) {
  const Case c = residual_case();
  const Trace clean = run(c);
  const Tensor b = *clean.find("w0/m0/forward/b.y");

  expect_first_failure(c, changed(clean, "w0/m0/forward/sum.y", [&](Tensor& sum) { return sum = b, true; }),
                       "w0/m0/forward/sum.y");
}

/// The last bit of one element, which a bound may admit: the claim fixes all of them.
TEST(Residual, FailsWhereOneBitOfASumIsWrong) {
  const Case c = two_blocks(3);
  const Trace clean = run(c);
  for (const char* tap :
       {"w0/m1/forward/second.y", "w0/m1/fork/d.ln.y", "w0/m1/fork/d.first.y", "w0/m1/fork/d.fc1.y"}) {
    const auto flip = [](Tensor& sum) {
      sum.set_bits(1, sum.bits(1) ^ 1);
      return true;
    };
    expect_first_failure(c, changed(clean, tap, flip), tap);
  }
}

TEST(Residual, FailsWhereALayerReadsAnotherOutputThanItNames) {
  const Case c = two_blocks(4);
  const Trace clean = run(c);
  const Tensor ln = *clean.find("w0/m0/forward/ln.y"), given = *clean.find("w0/m0/fork/in.d.ln.x");

  expect_first_failure(c, changed(clean, "w0/m0/forward/in.second.x1", [&](Tensor& x) { return x = ln, true; }),
                       "w0/m0/forward/in.second.x1");
  expect_first_failure(c, changed(clean, "w0/m0/fork/in.d.second.x1", [&](Tensor& d) { return d = given, true; }),
                       "w0/m0/fork/in.d.second.x1");
}

/// Any one tap of a fork or a sum may be missing from a capture: what comes of it is judged by later taps.
TEST(Residual, PassesWithoutATapWhoseEffectALaterOneShows) {
  const Case c = two_blocks(5);
  const Trace clean = run(c);
  std::size_t left_out = 0;
  for (const Tap& tap : clean.taps()) {
    const std::string& tensor = tap.name.tensor;
    if (tap.name.stage != "fork" && tensor.find("first") == std::string::npos &&
        tensor.find("second") == std::string::npos)
      continue;
    ++left_out;
    const Trace some = changed(clean, tap.name.text(), [](Tensor&) { return false; });
    EXPECT_GT(count(local_lens(c, some), Status::not_run), 0u) << tap.name.text();
    const auto checks = hard_lenses(c, some, Grouping::inferred).checks;
    EXPECT_EQ(first_failure(checks), nullptr) << tap.name.text() << " " << told(first_failure(checks));
    EXPECT_EQ(count(checks, Status::not_run), 0u) << tap.name.text() << " " << missing(checks);
  }
  EXPECT_GT(left_out, 0u);
}

/// A capture of buffers and steps has no fork, and none of the layers' gradients.
TEST(Residual, PassesACaptureOfBuffersAndSteps) {
  const Case c = two_blocks(6);
  Trace some;
  const Trace clean = run(c);
  some.claims = clean.claims;
  some.case_hash = clean.case_hash;
  for (const Tap& tap : clean.taps()) {
    const std::string& stage = tap.name.stage;
    const bool kept = stage == "cast" || stage == "accumulate" || stage == "optimizer" || stage == "schedule";
    if (kept && !tap.name.tensor.starts_with("in.")) some.add(tap.name, tap.value);
  }
  const auto checks = hard_lenses(c, some, Grouping::inferred).checks;
  EXPECT_EQ(first_failure(checks), nullptr) << told(first_failure(checks));
  EXPECT_EQ(count(checks, Status::not_run), 0u) << missing(checks);
}

}  // namespace
}  // namespace tally::residual_test
