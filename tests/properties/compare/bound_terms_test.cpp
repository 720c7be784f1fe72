#include "properties/judge/bound_terms.hpp"

#include "properties/laws/run_and_check.hpp"
#include "properties/lenses/walk.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::bound_terms_test {
namespace {

/// The terms make the bound, but for the rounding of the five additions here and the one that made `other`.
bool add_up(const TensorCheck& check) {
  const BoundTerms& t = check.terms;
  const double size = std::fabs(t.input) + std::fabs(t.accumulation) + std::fabs(t.storage) + std::fabs(t.function) +
                      std::fabs(t.other) + check.bound;
  return std::fabs(t.sum() - check.bound) <= 6 * std::numeric_limits<double>::epsilon() * size;
}

std::set<std::string> every_tap(const Trace& trace) {
  std::set<std::string> taps;
  for (const Tap& tap : trace.taps()) taps.insert(tap.name.text());
  return taps;
}

std::vector<TensorCheck> local_terms(const Case& c, const Trace& trace) {
  const auto taps = every_tap(trace);
  Walk walk(c, trace, Lens::local);
  walk.wanted = &taps;
  walk_all(walk);
  return walk.checks;
}

std::vector<TensorCheck> end_to_end_terms(const Case& c, const Trace& trace) {
  const auto taps = every_tap(trace);
  Walk walk(c, trace, Lens::end_to_end);
  walk.wanted = &taps;
  walk_all(walk);
  return walk.checks;
}

bool splits(const TensorCheck& check) {
  return check.bound > 0 && check.bound < std::numeric_limits<double>::infinity() &&
         check.tap.find("/in.") == std::string::npos;
}

/// Every layer, loss and stage in every format.
std::map<std::string, Case> all_cases() {
  std::map<std::string, Case> cases = recipes();
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    cases["everything " + std::string(name_of(storage))] = normal_everything(1, storage);
    cases["mse " + std::string(name_of(storage))] = mlp(1, storage);
  }
  return cases;
}

TEST(BoundTerms, AddUpToTheBoundOfEveryCheckOfBothLenses) {
  for (const auto& [name, c] : all_cases()) {
    const Trace trace = run(c);
    std::size_t split = 0;
    for (const auto& checks : {local_terms(c, trace), end_to_end_terms(c, trace)}) {
      for (const TensorCheck& check : checks) {
        if (!splits(check)) continue;
        EXPECT_TRUE(add_up(check)) << name << " " << check.lens << " " << check.tap;
        ++split;
      }
    }
    EXPECT_GT(split, trace.taps().size() / 4) << name;
  }
}

TEST(BoundTerms, HaveNoInputInTheLocalLensAndNoStorageInFp32) {
  for (const auto& [name, c] : all_cases()) {
    const Trace trace = run(c);
    const auto local = local_terms(c, trace);
    EXPECT_FALSE(local.empty()) << name;
    for (const TensorCheck& check : local) EXPECT_EQ(check.terms.input, 0) << name << " " << check.tap;
    if (c.precision.storage != Dtype::fp32) continue;
    for (const TensorCheck& check : end_to_end_terms(c, trace)) {
      EXPECT_EQ(check.terms.storage, 0) << name << " " << check.tap;
    }
  }
}

TEST(BoundTerms, OfAStageThatOnlyPassesOnAreInputAlone) {
  const Case c = mlp(1);
  const std::string relu = label_of(c.model, 1);
  std::size_t seen = 0;
  for (const TensorCheck& check : end_to_end_terms(c, run(c))) {
    if (check.stage != "forward" || !check.tap.ends_with("/" + relu + ".y") || !splits(check)) continue;
    EXPECT_EQ(check.terms.input, check.bound) << check.tap;
    ++seen;
  }
  EXPECT_GT(seen, 0u);
}

/// The trace with the largest element of one tap doubled.
Trace doubled(const Trace& trace, const std::string& name) {
  Trace copy;
  copy.claims = trace.claims;
  copy.case_hash = trace.case_hash;
  for (const Tap& tap : trace.taps()) {
    Tensor value = tap.value;
    std::size_t largest = 0;
    for (std::size_t i = 0; i < value.elements() && value.dtype != Dtype::i64; ++i) {
      if (std::fabs(value.value(i)) > std::fabs(value.value(largest))) largest = i;
    }
    if (tap.name.text() == name) value.set(largest, 2 * value.value(largest));
    copy.add(tap.name, std::move(value));
  }
  return copy;
}

TEST(BoundTerms, AreFilledInForTheFirstFailureAndTheWorstAlone) {
  const Case c = mlp(1, Dtype::fp16);
  const std::string tap = "w0/m1/backward/d.fc1.weight";
  const Trace trace = doubled(run(c), tap);
  auto checks = local_lens(c, trace);
  for (auto& check : end_to_end_lens(c, trace)) checks.push_back(std::move(check));
  split_bounds(c, trace, checks);
  const TensorCheck* failure = first_failure(checks);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->tap, tap);
  EXPECT_TRUE(add_up(*failure));
  EXPECT_GT(failure->terms.storage, 0);
  EXPECT_GE(failure->terms.accumulation, 0);  // none where all that it may leave is stored as one number
  const auto filled =
      std::count_if(checks.begin(), checks.end(), [](const auto& check) { return check.terms.sum() > 0; });
  EXPECT_LE(static_cast<std::size_t>(filled), worst_of(checks).size() + 1);
}

TEST(BoundTerms, StandInTheMessageOfAFailure) {
  const Case c = mlp(1);
  const Trace trace = doubled(run(c), "w0/m1/backward/d.fc1.weight");
  Outcome outcome;
  outcome.checks = local_lens(c, trace);
  split_bounds(c, trace, outcome.checks);
  const std::string message = settled(outcome).message;
  EXPECT_NE(message.find("the bound is accumulation 100 %"), std::string::npos) << message;
}

TEST(BoundTerms, AreFoundForTheNearestToItsLimitWhereNothingFails) {
  const Case c = mlp(1);
  const CheckedRun judged = run_and_check(c, {});
  const auto worst = worst_of(judged.outcome.checks);
  ASSERT_EQ(worst.size(), 1u);
  const TensorCheck& nearest = judged.outcome.checks[worst.front()];
  EXPECT_TRUE(add_up(nearest)) << nearest.tap;
}

/// The checks of both lenses, of which those of the local lens are the last to be near a bound.
std::vector<TensorCheck> far_from_local_bounds(const Case& c, const Trace& trace) {
  auto checks = local_lens(c, trace);
  for (TensorCheck& check : checks) check.worst_ratio = 0;
  for (auto& check : end_to_end_lens(c, trace)) checks.push_back(std::move(check));
  return checks;
}

TEST(BoundTerms, AreMadeWithoutJudgingAnotherTap) {
  const Case c = mlp(1);
  const Trace trace = run(c);
  auto checks = far_from_local_bounds(c, trace);
  std::vector<std::string> judged;

  const JudgeObserver observer(
      [&judged](const Place& place, const oracle::Expected&, const Tensor&) { judged.push_back(place.tap); });
  split_bounds(c, trace, checks);

  const TensorCheck& nearest = checks[worst_of(checks).front()];
  EXPECT_EQ(nearest.lens, "end_to_end");
  EXPECT_TRUE(add_up(nearest)) << nearest.tap;
  EXPECT_EQ(judged, std::vector{nearest.tap});
}

TEST(BoundTerms, AreMadeWithoutTheStagesBehindThem) {
  const Case c = mlp(1);
  const Trace trace = run(c);
  const std::set<std::string> wanted{"w0/m1/backward/d.fc1.weight"};
  Walk local(c, trace, Lens::local), end_to_end(c, trace, Lens::end_to_end);
  local.wanted = end_to_end.wanted = &wanted;

  walk_all(local);
  walk_all(end_to_end);

  EXPECT_EQ(local.window, 1);  // of two, eight micro-batches each
  EXPECT_EQ(end_to_end.window, 1);
  for (const auto& checks : {local.checks, end_to_end.checks})
    for (const TensorCheck& check : checks) EXPECT_EQ(check.tap.find("/m2/"), std::string::npos) << check.tap;
}

}  // namespace
}  // namespace tally::bound_terms_test
