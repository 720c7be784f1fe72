// The stage `count`: n_k and N, exactly; what is wrong there is named there, and no subject has to tell it.
#include <limits>

#include "kernels/trace/trace_layout.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rows.hpp"
#include "tests/kernels/token_case.hpp"
#include "tests/properties/compare/changed_trace.hpp"
#include "tests/properties/compare/clean_run.hpp"

namespace tally::count_test {
namespace {

/// Two micro-batches of the shifted case: of three sequences and three labels that score a row, and of one and none.
Case counted_case() {
  Case c = shifted_case();
  c.windows = {{6, 1}};
  c.sequences = {3, 1, 2, 1};
  c.tensors["tokens"] = whole_numbers({2, 0, 2, 1, 0, 1, 2});
  c.tensors["target"] = whole_numbers({0, 1, 1, 0, 1, 0, 1});
  return c;
}

Case weighed_case() {
  Case c = looked_up_case();
  c.model.loss = choice_of("loss", "mse", {{"item_weights", true}});
  c.tensors["item_weight"] = whole_numbers({2, 0, 3});
  return c;
}

std::int64_t number(const Trace& trace, const std::string& tap) { return trace.find(tap)->integer(0); }

Trace with_number(const Trace& trace, const std::string& tap, std::size_t at, std::uint64_t number) {
  return changed(trace, tap, [&](Tensor& value) { return value.set_bits(at, number), true; });
}

std::string first_wrong(const Case& c, const Trace& trace) {
  const auto checks = hard_lenses(c, trace, Grouping::declared).checks;
  const TensorCheck* failure = first_failure(checks);
  return failure == nullptr ? "nothing" : failure->stage + " " + failure->tap;
}

TEST(Count, LeavesOnPaperWhatItLeaves) {
  const Case c = counted_case();
  const Trace trace = run(c);

  EXPECT_TRUE(validate(c).empty());
  EXPECT_EQ(number(trace, "w0/m0/count/items"), 3);
  EXPECT_EQ(number(trace, "w0/m1/count/items"), 0);
  EXPECT_EQ(number(trace, "w0/count/items"), 3);
  EXPECT_EQ(*trace.find("w0/m0/count/in.sequences"), whole_numbers({3, 1, 2}));
  EXPECT_EQ(*trace.find("w0/m0/count/in.target"), whole_numbers({0, 1, 1, 0, 1, 0}));
  expect_clean(c, {}, c.name);
}

TEST(Count, AddsTheWeightsOfItems) {
  const Case c = weighed_case();
  const Trace trace = run(c);

  EXPECT_EQ(number(trace, "w0/m0/count/items"), 5);
  EXPECT_EQ(*trace.find("w0/m0/count/in.item_weight"), c.tensors.at("item_weight"));
  expect_clean(c, {}, "weights of items");
}

TEST(Count, IsNoStageWhereNothingIsCounted) {
  Case classes_weigh = counted_case();
  classes_weigh.model.loss.options["weight"] = std::vector<Decimal>{Decimal{"0.5"}, Decimal{"2"}};
  for (const Case& c : {looked_up_case(), classes_weigh}) {
    EXPECT_EQ(counted_items(c, 0), std::nullopt);
    EXPECT_EQ(layout_of(c, tap_name_of("w0/m0/count/items")), std::nullopt);
    EXPECT_EQ(run(c).find("w0/count/items"), nullptr);
  }
}

TEST(Count, IsNamedBeforeTheLossThatIsDividedByIt) {
  const Case c = counted_case();
  const Trace right = run(c);

  EXPECT_EQ(first_wrong(c, right), "nothing");
  EXPECT_EQ(first_wrong(c, with_number(right, "w0/m0/count/items", 0, 6)), "count w0/m0/count/items");
  EXPECT_EQ(first_wrong(c, with_number(right, "w0/count/items", 0, 4)), "count w0/count/items");
  EXPECT_EQ(first_wrong(c, with_number(right, "w0/m0/count/in.sequences", 1, 2)), "count w0/m0/count/in.sequences");
  EXPECT_EQ(first_wrong(c, with_number(right, "w0/m0/count/in.target", 1, 0)), "count w0/m0/count/in.target");
}

TEST(Count, AddsModuloTwoToThe64AsSubjectsDo) {
  const Case c = counted_case();
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  Trace trace = with_number(run(c), "w0/m0/count/items", 0, largest);
  trace = with_number(trace, "w0/m1/count/items", 0, largest);
  trace = with_number(trace, "w0/count/items", 0, largest + largest);

  std::vector<std::string> wrong;
  for (const TensorCheck& check : hard_lenses(c, trace, Grouping::declared).checks)
    if (check.status == Status::fail && check.stage == "count") wrong.push_back(check.tap);
  EXPECT_EQ(wrong, (std::vector<std::string>{"w0/m0/count/items", "w0/m1/count/items"}));
}

TEST(Count, NeedNotBeTold) {
  const Case c = counted_case();
  const Trace whole = run(c);
  Trace untold;
  untold.claims = whole.claims;
  for (const Tap& tap : whole.taps())
    if (tap.name.stage != "count") untold.add(tap.name, tap.value);

  const auto checks = hard_lenses(c, untold, Grouping::declared).checks;
  EXPECT_LT(untold.taps().size(), whole.taps().size());
  EXPECT_EQ(first_failure(checks), nullptr);
  EXPECT_EQ(count(checks, Status::not_run), 0u);
}

TEST(Count, HasTapsOfItsOwnShapes) {
  const Case c = counted_case();
  TapLayouts layouts(c);
  for (const char* tap : {"w0/m0/count/in.sequences", "w0/m1/count/in.sequences", "w0/count/items"}) {
    const TapName name = tap_name_of(tap);
    ASSERT_TRUE(layouts.of(name)) << tap;
    EXPECT_EQ(layouts.of(name)->shape, run(c).find(tap)->shape) << tap;
    EXPECT_EQ(layout_of(c, name)->shape, layouts.of(name)->shape) << tap;
  }
  for (const char* tap : {"w0/count/in.target", "w0/m0/count/in.item_weight", "w0/m0/count/target"})
    EXPECT_FALSE(layouts.of(tap_name_of(tap))) << tap;
}

}  // namespace
}  // namespace tally::count_test
