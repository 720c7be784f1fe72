// What one known bug leaves, written into the taps of a run by a formula of this test's own: its suspect says so.
#include "oracle/case/rank_keys.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/diagnosis/evidence.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "tests/kernels/token_case.hpp"
#include "tests/properties/compare/lens_cases.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::named_bugs_test {
namespace {

using Change = std::function<void(const TapName& at, Tensor& value)>;

/// The taps of a stage whose tensors begin like this, changed.
Trace with(const Trace& trace, const std::string& stage, const std::string& prefix, const Change& change) {
  return altered(trace, [&](const Tap& tap) -> std::optional<Tensor> {
    if (tap.name.stage != stage || !tap.name.tensor.starts_with(prefix)) return std::nullopt;
    Tensor value = tap.value;
    change(tap.name, value);
    return value;
  });
}

std::set<std::string> suspects(const Case& c, const Trace& trace) {
  std::set<std::string> names;
  for (const Suspicion& each : diagnose(c, trace, local_lens(c, trace))) names.insert(each.name);
  return names;
}

std::string listed(const std::set<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += name + " ";
  return all;
}

void expect_named(const std::string& bug, const Case& c, const Trace& trace) {
  const std::set<std::string> names = suspects(c, trace);
  EXPECT_TRUE(names.contains(bug)) << bug << ", not " << listed(names);
}

const Tensor& tap(const Trace& trace, TapName at, const std::string& tensor) {
  at.tensor = tensor;
  return *trace.find(at.view());
}

TEST(NamedBugs, AClampOfWhatIsTooLargeAlone) {
  const Case c = recipes().at("value clip");
  const Trace trace = run(c);
  expect_named("value-clip-one-sided", c, with(trace, "clip", "d.", [&](const TapName& at, Tensor& g) {
                 for (std::size_t i = 0; i < g.elements(); ++i)
                   g.set(i, std::fmin(tap(trace, at, "in." + at.tensor).value(i), 0.01));
               }));
}

TEST(NamedBugs, StatisticsOfAWindowsFirstMicroBatch) {
  const Case c = recipes().at("window statistics");
  const Trace trace = run(c);
  expect_named("bn-first-microbatch-statistics", c, with(trace, "forward", "bn.mean", [&](TapName at, Tensor& mean) {
                 at.micro_batch = 0;
                 const Tensor& x = tap(trace, at, "in.bn.x");
                 for (std::size_t i = 0; i < mean.elements(); ++i) {
                   double sum = 0;
                   for (std::size_t k = i; k < x.elements(); k += mean.elements()) sum += x.value(k);
                   mean.set(i, sum / static_cast<double>(x.shape[0]));
                 }
               }));
}

TEST(NamedBugs, AMicroBatchWithoutItemsThatDividesByThem) {
  Case c = normal_case(7);
  for (std::size_t row = 2; row < 5; ++row) c.tensors.at("target").set(row, -100);
  expect_named("zero-valid-items-nan", c, with(run(c), "loss", "in.factor", [](const TapName& at, Tensor& factor) {
                 if (at.window == 0 && at.micro_batch == 1) factor.set(0, NAN);
               }));
}

/// Where nothing shrinks either, there is no decay at all.
TEST(NamedBugs, ADecayOfTheParameterInPlaceOfItsGradient) {
  const Case c = recipes().at("l2");
  const Trace trace = run(c);
  const Trace undecayed = with(
      trace, "decay", "d.", [&](const TapName& at, Tensor& gradient) { gradient = tap(trace, at, "in." + at.tensor); });
  const Trace shrunk = with(undecayed, "optimizer", "in.fc", [](const TapName&, Tensor& p) {
    for (std::size_t i = 0; i < p.elements(); ++i) p.set(i, p.value(i) * (1 - 0.25 * 0.01));
  });

  expect_named("adam-vs-adamw-decay", c, shrunk);
  EXPECT_FALSE(suspects(c, undecayed).contains("adam-vs-adamw-decay")) << listed(suspects(c, undecayed));
}

TEST(NamedBugs, WeightGradientsOfTheFirstHalfOfTheRows) {
  const Case c = normal_case(7);
  const Trace trace = run(c);
  const Trace halved = with(trace, "backward", "d.fc", [&](const TapName& at, Tensor& gradient) {
    if (!at.tensor.ends_with(".weight")) return;
    const std::string label = at.tensor.substr(2, 3);
    const Tensor &dy = tap(trace, at, "in.d." + label + ".y"), &x = tap(trace, at, "in." + label + ".x");
    const auto out = static_cast<std::size_t>(dy.shape[1]), in = static_cast<std::size_t>(x.shape[1]);
    for (std::size_t i = 0; i < gradient.elements(); ++i) {
      double sum = 0;
      for (std::size_t row = 0; row < (x.elements() / in + 1) / 2; ++row)
        sum += dy.value(row * out + i / in) * x.value(row * in + i % in);
      gradient.set(i, sum);
    }
  });
  expect_named("second-product-lost", c, halved);
}

/// Asked where the positions that were read are not tapped: they would say so themselves.
TEST(NamedBugs, PositionsThatGoOnOverSequences) {
  Case c = normal_case(7);
  c.model.tokens = true;
  c.model.layers[0] = layer_of("embedding", "wte", {{"width", std::int64_t{4}}});
  c.model.layers[1] = layer_of("position_embedding", "wpe", {{"length", std::int64_t{8}}});
  c.windows = {{4, 3}, {3}};
  c.sequences = {2, 2, 3, 1, 2};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 7);
  const Trace trace = run(c);
  TensorCheck check;
  check.tap = "w0/m0/forward/wpe.y", check.lens = "group", check.stage = "forward";
  const Evidence evidence(c, trace, check);
  const Tensor &x = *trace.find("w0/m0/forward/in.wpe.x"), &table = c.tensors.at("wpe.weight");
  Values run_on;
  for (std::size_t i = 0; i < x.elements(); ++i) run_on.push_back(x.value(i) + table.value(i));

  const std::vector<Hypothesis> ways = find_bug("positions-run-on")->hypotheses(evidence);

  ASSERT_EQ(ways.size(), 1u);
  for (std::size_t t = 0; t < evidence.held.size(); ++t)
    if (evidence.held[t].name.text() == check.tap) EXPECT_EQ(ways[0].left[t], run_on);
}

/// Three ranks of 1, 2 and 1 micro-batches.
Case in_three_ranks() {
  Case c = three::three_ranks();
  c.windows = {{2, 1, 3, 2}};
  c.dealt = {{1, 2, 1}};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 7);
  return c;
}

/// What rank 0's sums look like where `share(p, rank, i)` is what a rank brings, and `kept` what each adds of its own.
std::set<std::string> where_ranks_bring(
    const std::function<double(const std::string& p, int rank, std::size_t i)>& share,
    const std::function<double(const std::string& p, int rank, std::size_t i)>& kept, const Case& c,
    const Trace& trace) {
  const Trace wrong = with(trace, "reduce", "reduced.", [&](const TapName& at, Tensor& sum) {
    const std::string p = at.tensor.substr(std::string("reduced.").size());
    for (std::size_t i = 0; i < sum.elements(); ++i)
      sum.set(i, share(p, 0, i) + share(p, 1, i) + share(p, 2, i) + kept(p, at.rank, i));
  });
  const RanksOfTrace ranks(c, wrong);
  return suspects(ranks.parts[0], ranks.traces[0]);
}

TEST(NamedBugs, ASumOverRanksOfTheLastOrTheFirstMicroBatch) {
  const Case c = in_three_ranks();
  const Trace trace = run(c);
  const auto of = [&](const std::string& tensor, int rank, int k, std::size_t i) {
    return trace.find(TapView{0, k, "accumulate", tensor, rank})->value(i);
  };
  const auto last = [&](const std::string& p, int rank, std::size_t i) {
    return of("in.d." + p, rank, rank == 1 ? 1 : 0, i);
  };
  const auto first = [&](const std::string& p, int rank, std::size_t i) { return of("buffer." + p, rank, 0, i); };
  const auto rest = [&](const std::string& p, int rank, std::size_t i) {
    return rank == 1 ? of("buffer." + p, 1, 1, i) - of("buffer." + p, 1, 0, i) : 0;
  };
  const auto none = [](const std::string&, int, std::size_t) { return 0; };

  const std::set<std::string> of_last = where_ranks_bring(last, none, c, trace);
  const std::set<std::string> of_first = where_ranks_bring(first, rest, c, trace);

  EXPECT_TRUE(of_last.contains("stale-narrow-gradients-reduced")) << listed(of_last);
  EXPECT_TRUE(of_first.contains("reduced-in-the-first-micro-batch")) << listed(of_first);
}

TEST(NamedBugs, AScheduleThatStepsOnceForEveryRank) {
  const Case c = three::three_ranks();
  const Trace trace = run(c);
  const Trace wrong = with(trace, "schedule", "step", [&](const TapName& at, Tensor& step) {
    step.set(0, tap(trace, at, "in.step").value(0) + 3);
  });
  const RanksOfTrace ranks(c, wrong);

  expect_named("rate-steps-by-ranks", ranks.parts[0], ranks.traces[0]);
}

}  // namespace
}  // namespace tally::named_bugs_test
