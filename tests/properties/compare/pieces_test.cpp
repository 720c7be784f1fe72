// A capture judged in pieces says what it says when it is judged whole.
#include "properties/judge/pieces.hpp"

#include <map>

#include "properties/judge/groups.hpp"
#include "properties/judge/verdict.hpp"
#include "tests/properties/compare/lens_cases.hpp"
#include "tests/properties/compare/opaque_case.hpp"

namespace tally::pieces_test {
namespace {

constexpr std::size_t few = 7;  // fewer elements than a weight of these networks has

struct Opaque {
  Case c;
  Trace trace;
};

Opaque opaque_run(const Case& known) { return {opaque_of(known), opaque_of(known, run(known))}; }

/// Taps that a recorder has at its levels, and all.
std::vector<Trace> captures_of(const Trace& all) {
  std::vector<Trace> captures{all};
  for (const char* stage : {"backward", "accumulate", "unscale", "clip"}) {
    Trace& some = captures.emplace_back();
    some.claims = all.claims;
    for (const Tap& tap : all.taps()) {
      const bool output = !tap.name.tensor.starts_with("in.");
      const std::string& own = tap.name.stage;
      if (output && (own == stage || own == "optimizer" || own == "schedule" || own == "overflow_check"))
        some.add(tap.name, tap.value);
    }
  }
  return captures;
}

using Verdicts = std::map<std::string, std::vector<std::string>>;

/// By tap and lens: the status, how many elements, and of a failure the worst one.
Verdicts verdicts_of(const std::vector<TensorCheck>& checks) {
  Verdicts verdicts;
  for (const TensorCheck& check : checks) {
    std::string said = check.lens + " " + std::string(word_of(check.status)) + " " + std::to_string(check.elements);
    if (check.status == Status::fail) said += " at " + to_string(check.worst_index);
    verdicts[check.tap].push_back(std::move(said));
  }
  return verdicts;
}

void expect_the_same(const Opaque& run, const std::string& what) {
  const GroupedChecks whole = hard_lenses(run.c, run.trace, Grouping::inferred);
  const GroupedChecks pieces = piecewise_lenses(run.c, run.trace, {}, few);
  const Verdicts expected = verdicts_of(whole.checks), got = verdicts_of(pieces.checks);
  EXPECT_FALSE(expected.empty()) << what;
  for (const auto& [tap, said] : expected) {
    const auto found = got.find(tap);
    ASSERT_NE(found, got.end()) << what << ": " << tap << " is not judged";
    EXPECT_EQ(found->second, said) << what << ": " << tap;
  }
  EXPECT_EQ(got.size(), expected.size()) << what;
  EXPECT_EQ(pieces.groups, whole.groups) << what;
}

TEST(Pieces, HoldEveryElementOnce) {
  const Case c = opaque_of(normal_everything(3));
  std::map<std::string, std::size_t> next;
  for (const Piece& piece : pieces_of(c, few)) {
    std::size_t held = 0;
    for (const Stretch& stretch : piece) {
      EXPECT_EQ(stretch.first, next[stretch.parameter]) << stretch.parameter;
      next[stretch.parameter] += stretch.count;
      held += stretch.count;
    }
    EXPECT_GT(held, 0u);
    EXPECT_LE(held, few);
  }
  EXPECT_FALSE(next.empty());
  for (const std::string& p : parameters_of(c.model)) EXPECT_EQ(next[p], c.tensors.at(p).elements()) << p;
}

TEST(Pieces, SayWhatTheWholeCaptureSaysUnderEveryRecipe) {
  for (const auto& [name, known] : recipes()) {
    const Opaque all = opaque_run(known);
    std::size_t level = 0;
    for (const Trace& some : captures_of(all.trace))
      expect_the_same({all.c, some}, name + ", " + std::to_string(level++));
  }
}

TEST(Pieces, SayTheSameInSixteenBitsWithADynamicScale) {
  for (const Dtype storage : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    const Opaque all = opaque_run(normal_everything(3, storage));
    for (const Trace& some : captures_of(all.trace)) expect_the_same({all.c, some}, std::string(name_of(storage)));
  }
}

/// The last element of every tensor, moved: found at the same tap, and at its own index of the whole tensor.
TEST(Pieces, FindWhatIsWrongWhereItIs) {
  const Opaque right = opaque_run(normal_everything(3));
  int tried = 0;
  for (const Tap& tap : right.trace.taps()) {
    const bool given = tap.name.stage == "backward" || tap.name.tensor.starts_with("in.");
    if (given || tap.value.dtype != Dtype::fp32 || tap.value.elements() < 2) continue;
    Opaque wrong{right.c, {}};
    wrong.trace.claims = right.trace.claims;
    Tensor moved = tap.value;
    const std::size_t last = moved.elements() - 1;
    moved.set(last, moved.value(last) * 1.5 + 1);
    for (const Tap& each : right.trace.taps()) wrong.trace.add(each.name, each.name == tap.name ? moved : each.value);
    const GroupedChecks found = piecewise_lenses(wrong.c, wrong.trace, {}, few);
    const TensorCheck* failure = first_failure(found.checks);
    ASSERT_NE(failure, nullptr) << tap.name.text();
    EXPECT_EQ(failure->tap, tap.name.text());
    EXPECT_EQ(failure->worst_index, index_in(last, moved.shape)) << tap.name.text();
    ++tried;
  }
  EXPECT_GT(tried, 30);
}

/// A part that shows nothing leaves the tensor open, whatever the others show, but where it is nothing but zeros.
TEST(Pieces, ThatWereComparedInVainLeaveTheTensorOpen) {
  const Case c = opaque_of(normal_everything(3));
  const std::string p = parameters_of(c.model).front();
  const auto joined = [&](Status second, bool zero_signal) {
    JoinedChecks all(c);
    for (const std::size_t i : {0, 1}) {
      TensorCheck check;
      check.tap = "w0/optimizer/" + p;
      check.status = i == 0 ? Status::pass : second;
      check.zero_signal = i == 1 && zero_signal;
      all.add({{p, i, 1}}, {check});
    }
    return std::move(all).all().at(0).status;
  };
  EXPECT_EQ(joined(Status::pass, false), Status::pass);
  EXPECT_EQ(joined(Status::vacuous, false), Status::vacuous);
  EXPECT_EQ(joined(Status::vacuous, true), Status::pass);
  EXPECT_EQ(joined(Status::not_run, false), Status::not_run);
  EXPECT_EQ(joined(Status::fail, false), Status::fail);
}

TEST(Pieces, AreCutOfLargeOpaqueModelsAlone) {
  EXPECT_FALSE(is_judged_in_pieces(normal_case(3)));
  EXPECT_FALSE(is_judged_in_pieces(opaque_of(normal_case(3))));
}

}  // namespace
}  // namespace tally::pieces_test
