// Bugs that no catalogue lists: an option taken for another value, an input read in part, a term left out. What a stage
// leaves is what it leaves under another case or on other inputs; its suspect must say so.
#include <gtest/gtest.h>

#include "properties/diagnosis/diagnose.hpp"
#include "properties/diagnosis/evidence.hpp"
#include "properties/generators/drawn_options.hpp"
#include "properties/judge/groups.hpp"
#include "tests/properties/compare/changed_trace.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::unlisted_bugs_test {
namespace {

std::string first_sentence(const std::vector<Suspicion>& suspects) {
  return suspects.empty() ? "none" : suspects.front().name + ": " + suspects.front().sentence;
}

/// The first suspect of a run of another case, held against this one.
std::string taken_for(const Case& c, const Case& other) {
  const Trace trace = run(other);
  return first_sentence(diagnose(c, trace, local_lens(c, trace)));
}

Case with(Case c, Choice Recipe::*section, const Choice& choice) {
  c.recipe.*section = choice;
  return c;
}

Case redrawn(Case c) {
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 7);
  return c;
}

/// Another value of one option, in a case of one window, so that what is read is the same.
void expect_option(const std::string& section, const std::string& kind, Choice Recipe::*choice, const Options& given,
                   const std::string& option, const OptionValue& taken, const std::string& said) {
  Case c = normal_case(7);
  c.windows = {{4, 3}};
  c = redrawn(with(c, choice, choice_of(section, kind, given)));
  Options wrong = given;
  wrong[option] = taken;
  const std::string sentence = taken_for(c, with(c, choice, choice_of(section, kind, wrong)));
  EXPECT_NE(sentence.find("as if " + option + " of " + kind + " were " + said), std::string::npos)
      << option << ": " << sentence;
}

TEST(UnlistedBugs, AnOptionOfTheOptimizerThatIsHardCodedIsNamedWithItsValue) {
  const Options adam{{"beta1", Decimal{"0.8"}}, {"beta2", Decimal{"0.95"}}, {"eps", Decimal{"1e-3"}}};
  expect_option("optimizer", "adam", &Recipe::optimizer, adam, "beta1", Decimal{"0.9"}, "0.9");
  expect_option("optimizer", "adam", &Recipe::optimizer, adam, "beta2", Decimal{"0.999"}, "0.999");
  expect_option("optimizer", "adam", &Recipe::optimizer, adam, "beta2", Decimal{"0.937"}, "0.937");
}

TEST(UnlistedBugs, AnOptionOfDecayOrClipThatIsHardCodedIsNamedWithItsValue) {
  expect_option("weight_decay", "l2", &Recipe::weight_decay, {{"lambda", Decimal{"0.02"}}}, "lambda", Decimal{"0.01"},
                "0.01");
  expect_option("weight_decay", "decoupled", &Recipe::weight_decay, {{"lambda", Decimal{"0.2"}}}, "lambda",
                Decimal{"0.37"}, "0.37");
  expect_option("clip", "value", &Recipe::clip, {{"max_value", Decimal{"0.01"}}}, "max_value", Decimal{"0.02"}, "0.02");
}

/// Values that a number is easily taken for.
TEST(UnlistedBugs, ANumberThatWasMadeOfTheRightOneIsNamedWithHow) {
  const std::map<std::string, const char*> others{{"0.84 (1 - lambda)", "0.84"}, {"0.0256 (its square)", "0.0256"},
                                                  {"0.4 (its root)", "0.4"},     {"6.25 (its inverse)", "6.25"},
                                                  {"0.08 (half)", "0.08"},       {"1 (one)", "1"}};
  for (const auto& [said, taken] : others)
    expect_option("weight_decay", "decoupled", &Recipe::weight_decay, {{"lambda", Decimal{"0.16"}}}, "lambda",
                  Decimal{taken}, said);
}

TEST(UnlistedBugs, AWholeNumberThatIsLeftOutIsNamed) {
  Case c = mlp(7);
  c.model.tokens = true;
  c.windows = {{64}};
  c.model.layers[0] = layer_of("embedding", "wte", {{"width", std::int64_t{32}}, {"padding_index", std::int64_t{3}}});
  c = redrawn(c);
  Case other = c;
  other.model.layers[0].options["padding_index"] = std::int64_t{0};

  const std::string sentence = taken_for(c, other);

  EXPECT_NE(sentence.find("as if padding_index of embedding were 0"), std::string::npos) << sentence;
}

/// Of every activation that is registered the next one in its place.
TEST(UnlistedBugs, AnActivationThatIsAnotherIsNamedWithIt) {
  const std::vector<ActivationForms>& kinds = activations_by_kind();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string &kind = kinds[i].kind, &taken = kinds[(i + 1) % kinds.size()].kind;
    Case c = mlp(7);
    c.model.layers[1] = layer_of(kind, "act");
    Case other = c;
    other.model.layers[1] = layer_of(taken, "act");
    const std::string sentence = taken_for(c, other);
    EXPECT_NE(sentence.find("activation-otherwise: it is " + taken), std::string::npos) << kind << ": " << sentence;
  }
}

/// The bits of one output, changed; what comes after it goes on from them.
Trace with_output(const Trace& trace, const std::string& stage, const std::string& tensor,
                  const std::function<void(Tensor&)>& change) {
  return altered(trace, [&](const Tap& tap) -> std::optional<Tensor> {
    if (tap.name.stage != stage || tap.name.tensor != tensor) return std::nullopt;
    Tensor other = tap.value;
    change(other);
    return other;
  });
}

std::string looks_like(const Case& c, const std::string& stage, const std::string& tensor,
                       const std::function<void(Tensor&)>& change) {
  const Trace trace = with_output(run(c), stage, tensor, change);
  return first_sentence(diagnose(c, trace, local_lens(c, trace)));
}

TEST(UnlistedBugs, ADerivativeThatIsLeftOutIsNamedOfEveryActivation) {
  for (const ActivationForms& each : activations_by_kind()) {
    Case c = mlp(7);
    c.model.layers[1] = layer_of(each.kind, "act");
    const Trace trace = run(c);
    const Trace wrong = altered(trace, [&](const Tap& tap) -> std::optional<Tensor> {
      if (tap.name.stage != "backward" || tap.name.tensor != "d.act.x") return std::nullopt;
      TapName read = tap.name;
      read.tensor = "in.d.act.y";
      return *trace.find(read.view());
    });
    const std::string sentence = first_sentence(diagnose(c, wrong, local_lens(c, wrong)));
    EXPECT_NE(sentence.find("activation-otherwise: the derivative is left out"), std::string::npos)
        << each.kind << ": " << sentence;
  }
}

/// What a layer norm leaves where it divides by another number.
TEST(UnlistedBugs, AnotherStandardDeviationIsNamedByItsFormula) {
  const std::map<std::string, double (*)(double, double)> others{
      {"eps is added outside the square root", [](double v, double eps) { return std::sqrt(v) + eps; }},
      {"eps is left out", [](double v, double) { return std::sqrt(v); }},
      {"eps is squared", [](double v, double eps) { return std::sqrt(v + eps * eps); }},
      {"eps is subtracted", [](double v, double eps) { return std::sqrt(v - eps); }},
      {"the larger of variance and eps is taken", [](double v, double eps) { return std::sqrt(std::max(v, eps)); }},
      {"the square root of the variance is left out", [](double v, double eps) { return v + eps; }},
      {"x is multiplied by the standard deviation", [](double v, double eps) { return 1 / std::sqrt(v + eps); }},
      {"the division by the standard deviation is left out", [](double, double) { return 1.0; }}};
  Case c = mlp(7);
  const std::size_t n = 32;
  c.model.layers[1] = layer_of("layer_norm", "ln", {{"affine", false}, {"eps", Decimal{"0.25"}}});
  c = redrawn(c);
  const Trace trace = run(c);
  for (const auto& [said, deviation] : others) {
    const Trace wrong = altered(trace, [&](const Tap& tap) -> std::optional<Tensor> {
      if (tap.name.stage != "forward" || tap.name.tensor != "ln.y") return std::nullopt;
      TapName read = tap.name;
      read.tensor = "in.ln.x";
      const Tensor& x = *trace.find(read.view());
      Tensor y = tap.value;
      for (std::size_t row = 0; row < x.elements(); row += n) {
        double mean = 0, variance = 0;
        for (std::size_t i = row; i < row + n; ++i) mean += x.value(i) / n;
        for (std::size_t i = row; i < row + n; ++i) variance += (x.value(i) - mean) * (x.value(i) - mean) / n;
        for (std::size_t i = row; i < row + n; ++i) y.set(i, (x.value(i) - mean) / deviation(variance, 0.25));
      }
      return y;
    });
    const std::string sentence = first_sentence(diagnose(c, wrong, local_lens(c, wrong)));
    EXPECT_NE(sentence.find(said), std::string::npos) << said << ": " << sentence;
  }
}

TEST(UnlistedBugs, ATailThatIsNeverWrittenIsNamedWithItsPlace) {
  const std::string said = looks_like(mlp(3), "backward", "d.fc1.weight", [](Tensor& t) {
    for (std::size_t i = 500; i < t.elements(); ++i) t.set(i, 0);
  });

  EXPECT_NE(said.find("elements from 500 on are zero"), std::string::npos) << said;
}

/// What stands there is what the micro-batch before left, if need be the last one of the window before.
TEST(UnlistedBugs, ATailThatHoldsWhatWasThereBeforeIsNamed) {
  Case c = mlp(3);
  c.windows.assign(2, {2, 2});
  c = redrawn(c);
  const Trace trace = run(c);
  for (const auto& [at, before] : {std::pair("w1/m1", "w1/m0"), std::pair("w1/m0", "w0/m1")}) {
    const std::string tensor = "/backward/d.fc1.weight";
    const Trace wrong = changed(trace, at + tensor, [&](Tensor& t) {
      for (std::size_t i = 300; i < t.elements(); ++i) t.set(i, trace.find(before + tensor)->value(i));
      return true;
    });
    const std::string said = first_sentence(diagnose(c, wrong, local_lens(c, wrong)));
    EXPECT_NE(said.find("from 300 on hold what was there before"), std::string::npos) << at << ": " << said;
  }
}

TEST(UnlistedBugs, NumbersInEachOthersPlacesAreNamed) {
  const auto reversed = [](Tensor& t) {
    const Tensor right = t;
    for (std::size_t i = 0; i < t.elements(); ++i) t.set(i, right.value(t.elements() - 1 - i));
  };
  const auto next = [](Tensor& t) {
    const Tensor right = t;
    for (std::size_t i = 0; i + 1 < t.elements(); ++i) t.set(i, right.value(i + 1));
  };
  const auto before = [](Tensor& t) {
    const Tensor right = t;
    for (std::size_t i = 1; i < t.elements(); ++i) t.set(i, right.value(i - 1));
  };

  const std::string backwards = looks_like(mlp(3), "backward", "d.fc1.weight", reversed);
  const std::string shifted = looks_like(mlp(3), "backward", "d.fc1.weight", next);
  const std::string shifted_back = looks_like(mlp(3), "backward", "d.fc1.weight", before);

  EXPECT_NE(backwards.find("in reverse order"), std::string::npos) << backwards;
  EXPECT_NE(shifted.find("index is one too large"), std::string::npos) << shifted;
  EXPECT_NE(shifted_back.find("index is one too small"), std::string::npos) << shifted_back;
}

/// A bug as random as the error of a wrong formula that nobody knows.
TEST(UnlistedBugs, AnErrorOfNoKnownKindIsNotNamed) {
  for (const char* tensor : {"d.fc1.weight", "d.fc2.bias"}) {
    const std::string said = looks_like(mlp(3), "backward", tensor, [](Tensor& t) {
      for (std::size_t i = 0; i < t.elements(); ++i) t.set(i, t.value(i) * (1 + 0.3 * std::sin(double(7 * i + 3))));
    });
    EXPECT_EQ(said, "none") << tensor;
  }
}

TEST(UnlistedBugs, OneNumberThatIsOffByAFewPerCentIsNotNamed) {
  Case c = normal_case(7);
  c.windows = {{4, 3}};  // one norm: two that are off by one factor would tell
  c.recipe.clip = choice_of("clip", "global_norm", {{"max_norm", Decimal{"0.1"}}});
  for (const double factor : {0.93, 1.07, 1.31}) {
    const std::string said = looks_like(redrawn(c), "norm", "norm", [&](Tensor& t) { t.set(0, t.value(0) * factor); });
    EXPECT_EQ(said, "none") << factor;
  }
}

TEST(AbsentStages, AStageWithoutAnyTapIsNamedWhereSomethingBehindItFails) {
  Case c = normal_case(7);
  c.recipe.weight_decay = choice_of("weight_decay", "l2", {{"lambda", Decimal{"0.5"}}});
  c = redrawn(c);
  const Trace without = run(with(c, &Recipe::weight_decay, choice_of("weight_decay", "none")));
  auto checks = local_lens(c, without);
  ASSERT_EQ(first_failure(checks), nullptr)
      << told(first_failure(checks));  // every stage that left something did right by its inputs
  for (TensorCheck& check : end_to_end_lens(c, without)) checks.push_back(std::move(check));
  TensorCheck behind;
  behind.lens = "end_to_end", behind.tap = "w0/optimizer/fc1.weight", behind.stage = "optimizer";
  behind.status = Status::fail;
  checks.push_back(behind);

  name_absent_stage(c, without, checks);

  const TensorCheck* found = first_failure(checks);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->stage, "decay") << found->tap;
  EXPECT_TRUE(is_absent(*found));
  EXPECT_EQ(diagnose(c, without, checks).front().name, "stage-not-run");
}

TEST(AbsentStages, AnInputIsNamedOnlyWhereNothingOfItsParameterWasLeft) {
  const Case c = normal_case(7);
  const Trace whole = run(c);
  TensorCheck untapped, behind;
  untapped.lens = behind.lens = "local";
  untapped.tap = "w0/unscale/in.buffer.fc1.weight", untapped.stage = "unscale", untapped.status = Status::not_run;
  behind.tap = "w0/optimizer/fc1.weight", behind.stage = "optimizer", behind.status = Status::fail, behind.elements = 4;
  std::vector<TensorCheck> left{untapped, behind}, passed_over = left;

  name_absent_stage(c, whole, left);
  name_absent_stage(c, changed(whole, "w0/unscale/d.fc1.weight", [](Tensor&) { return false; }), passed_over);

  EXPECT_EQ(first_failure(left)->stage, "optimizer");
  EXPECT_EQ(first_failure(passed_over)->tap, untapped.tap);
}

TEST(AbsentStages, AStageIsNotNamedWhereOnlySomethingBeforeItFails) {
  const Case c = normal_case(7);
  const Trace whole = run(c);
  TensorCheck missing, before;
  missing.lens = before.lens = "local";
  missing.tap = "w0/decay/fc1.weight", missing.stage = "decay", missing.status = Status::not_run;
  before.tap = "w0/m0/forward/fc1.y", before.stage = "forward", before.status = Status::fail, before.elements = 4;
  std::vector<TensorCheck> checks{missing, before};

  name_absent_stage(c, whole, checks);

  EXPECT_EQ(first_failure(checks)->stage, "forward");
}

}  // namespace
}  // namespace tally::unlisted_bugs_test
