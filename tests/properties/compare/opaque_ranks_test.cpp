// Ranks whose model is opaque, as recorders of real ranks see them: each gives its own gradients, and what they made of
// them together is judged.
#include "oracle/case/io.hpp"
#include "properties/diagnosis/judged_capture.hpp"
#include "tests/properties/compare/lens_cases.hpp"
#include "tests/properties/compare/opaque_case.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::opaque_ranks_test {
namespace {

using namespace three;

/// Three ranks with normal data, told how to work together; every parameter travels by itself, since those of an opaque
/// model stand in another order.
Case told_how(std::initializer_list<std::pair<const char*, const char*>> how) {
  Case c = three_ranks();
  draw_normal(c, 3);
  c = with_rank_option(std::move(c), "buckets.elements", std::int64_t{1});
  for (const auto& [key, word] : how) c = with_rank_option(std::move(c), key, std::string(word));
  return c;
}

std::vector<Case> ways() {
  return {told_how({}),
          told_how({{"reduce.divide", "before"}, {"buckets.order", "reverse"}}),
          told_how({{"communicate", "running_total"}, {"reduce.divide", "after"}}),
          told_how({{"communicate", "micro_batch"}}),
          told_how({{"sharding", "optimizer"}}),
          told_how({{"sharding", "gradients"}, {"reduce.divide", "collective"}})};
}

std::string way_of(const Case& c) {
  return rank_word(c, "communicate") + " " + rank_word(c, "sharding") + " " + rank_word(c, "reduce.divide");
}

TEST(OpaqueRanks, AreStatedAndReadAgain) {
  for (const Case& known : ways()) {
    const Case c = opaque_of(known);
    EXPECT_TRUE(validate(c).empty()) << way_of(c);
    EXPECT_TRUE(read_case(write_case(c)) == c) << way_of(c);
  }
}

TEST(OpaqueRanks, PassWhereTheirRunWasRight) {
  for (const Case& known : ways()) {
    const std::vector<TensorCheck> checks =
        hard_lenses(opaque_of(known), opaque_of(known, run(known)), Grouping::inferred).checks;
    EXPECT_EQ(first_failure(checks), nullptr) << way_of(known) << " " << told(first_failure(checks));
    EXPECT_EQ(count(checks, Status::not_run), 0u) << way_of(known) << " " << missing(checks);
    EXPECT_GT(count(checks, Status::pass), 0u);
  }
}

TEST(OpaqueRanks, NameTheRankAndTheStageOfADamagedTap) {
  const Case known = told_how({{"reduce.divide", "before"}}), c = opaque_of(known);
  const Trace trace = opaque_of(known, run(known));
  for (const std::string tap : {"w0/r1/m1/loss/in.factor", "w0/r2/m0/accumulate/buffer.model.out.bias",
                                "w1/r2/reduce/in.buffer.model.fc1.weight", "w0/r0/reduce/reduced.model.out.weight",
                                "w1/r1/optimizer/model.fc1.bias"})
    EXPECT_EQ(first_failing(hard_lenses(c, damaged(trace, tap, 1), Grouping::inferred).checks), tap);
}

/// The trace with other numbers under some names, each where it stood; what it lacks stands at its end.
Trace changed(const Trace& trace, const Trace& others) {
  Trace other;
  other.claims = trace.claims;
  for (const Tap& tap : trace.taps()) {
    const Tensor* value = others.find(tap.name.view());
    other.add(tap.name, value != nullptr ? *value : tap.value);
  }
  for (const Tap& tap : others.taps())
    if (trace.find(tap.name.view()) == nullptr) other.add(tap.name, tap.value);
  return other;
}

std::string first_suspect(const Case& c, const Trace& trace) {
  const JudgedCapture judged = judged_capture(c, trace);
  return judged.suspects.empty() ? "" : judged.suspects.front().name;
}

TEST(OpaqueRanks, NameARankThatBeganWithParametersOfItsOwn) {
  const Case known = told_how({}), c = opaque_of(known);
  Trace began;
  for (int rank = 0; rank < 3; ++rank) {
    Tensor value = c.tensors.at("model.fc1.weight");
    if (rank == 2) value.set(1, value.value(1) + 1);
    began.add({0, -1, "cast", "in.model.fc1.weight", rank}, value);
  }
  const Trace trace = changed(opaque_of(known, run(known)), began);

  EXPECT_EQ(first_failing(hard_lenses(c, trace, Grouping::inferred).checks), "w0/r2/cast/in.model.fc1.weight");
  EXPECT_EQ(first_suspect(c, trace), "parameters-not-broadcast");
}

TEST(OpaqueRanks, NameASumBehindAnEarlierMicroBatch) {
  Case known = told_how({{"reduce.divide", "before"}});
  known.dealt = {{2, 1, 1}, {2, 0, 0}};
  const Trace right = opaque_of(known, run(known));
  const Case c = opaque_of(known);
  Trace summed;
  for (const std::string& p : parameters_of(c.model)) {
    Tensor mean = c.tensors.at(p);
    for (std::size_t i = 0; i < mean.elements(); ++i) {
      double sum = 0;
      for (int rank = 0; rank < 3; ++rank)
        sum += right.find(TapView{0, 0, "accumulate", "buffer." + p, rank})->value(i);
      mean.set(i, sum / 3);
    }
    summed.add({0, 1, "accumulate", "in.buffer." + p, 0}, mean);
  }
  const Trace trace = changed(right, summed);

  EXPECT_EQ(first_suspect(c, trace), "no-sync-inverted");
}

TEST(OpaqueRanks, NameParametersThatDidNotComeBack) {
  const Case known = told_how({}), c = opaque_of(known);
  Trace kept;
  for (const std::string& p : parameters_of(c.model)) kept.add({0, -1, "optimizer", p, 1}, c.tensors.at(p));
  const Trace trace = changed(opaque_of(known, run(known)), kept);

  EXPECT_EQ(first_suspect(c, trace), "updated-shard-not-gathered");
}

}  // namespace
}  // namespace tally::opaque_ranks_test
