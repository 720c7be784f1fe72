// The hard lenses on models over tokens: clean runs pass, and a run with one thing wrong fails where it is wrong.
#include "oracle/case/io.hpp"
#include "tests/kernels/residual_case.hpp"
#include "tests/kernels/token_case.hpp"
#include "tests/properties/compare/changed_trace.hpp"
#include "tests/properties/compare/clean_run.hpp"

namespace tally::token_test {
namespace {

const Dtype formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

/// Five tokens, positions, a residual block and a shifted loss over five classes; sequences of 1, 2 and 4 rows.
Case small_language_model(unsigned seed, Dtype storage = Dtype::fp32, const std::string& tied = "") {
  Case c = small_case();
  c.name = "small language model";
  c.precision.storage = storage;
  c.model.tokens = true;
  c.model.layers = {layer_of("embedding", "wte", {{"width", std::int64_t{4}}}),
                    layer_of("position_embedding", "wpe", {{"length", std::int64_t{4}}}),
                    layer_of("layer_norm", "ln"),
                    layer_of("linear", "fc", {{"out", std::int64_t{4}}}),
                    reading({"wpe", "fc"}, layer_of("add", "sum")),
                    layer_of("linear", "head", {{"out", std::int64_t{5}}, {"bias", false}})};
  c.model.layers.back().tied = tied;
  c.model.loss = choice_of("loss", "cross_entropy", {{"shift", true}, {"z_loss", Decimal{"0.01"}}});
  c.windows = {{7, 4}, {3}};
  c.sequences = {2, 1, 4, 4, 1, 2};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, seed);
  return c;
}

TEST(Tokens, AreTestedOnValidCases) {
  for (const Case& c : {looked_up_case(), placed_case(), shifted_case(), tied_case(), small_language_model(1),
                        small_language_model(1, Dtype::fp32, "wte")})
    for (const CaseError& error : validate(c)) ADD_FAILURE() << c.name << ": " << error.path << " " << error.found;
}

TEST(Tokens, PassBothLensesOnPaper) {
  for (const Case& c : {looked_up_case(), placed_case(), shifted_case(), tied_case()}) expect_clean(c, {}, c.name);
}

TEST(Tokens, LeaveOnPaperWhatTheyLeave) {
  const Trace trace = run(placed_case());

  EXPECT_EQ(*trace.find("w0/m0/forward/wte.y"), one_column({4, 1, 4}));
  EXPECT_EQ(*trace.find("w0/m0/forward/wpe.y"), one_column({5, 0, 5}));
  EXPECT_EQ(*trace.find("w0/m0/backward/d.wte.weight"), one_column({-2, 0, 8}));
  EXPECT_EQ(*trace.find("w0/m0/backward/d.wpe.weight"), one_column({8, -2}));
  EXPECT_EQ(*trace.find("w0/m0/forward/in.tokens"), whole_numbers({2, 0, 2}));
  EXPECT_EQ(*trace.find("w0/m0/backward/in.positions"), whole_numbers({0, 1, 0}));
}

TEST(Tokens, LeaveBothGradientsOfATiedWeightAndTheirSum) {
  const Trace trace = run(tied_case());

  EXPECT_EQ(*trace.find("w0/m0/backward/d.wte.weight@head"), one_column({8, 2, -8}));
  EXPECT_EQ(*trace.find("w0/m0/backward/d.wte.weight@wte"), one_column({4, 0, -6}));
  EXPECT_EQ(*trace.find("w0/m0/fork/d.wte.weight"), one_column({12, 2, -14}));
  EXPECT_EQ(*trace.find("w0/m0/accumulate/buffer.wte.weight"), one_column({12, 2, -14}));
  EXPECT_EQ(trace.find("w0/m0/backward/d.wte.weight"), nullptr);
}

TEST(Tokens, AreScoredByTheNextLabelOfTheirSequence) {
  EXPECT_EQ(*run(shifted_case()).find("w0/m0/loss/in.target"), whole_numbers({1, -100, -100}));
}

TEST(Tokens, PassCleanRunsInEveryFormatAndByEveryKernel) {
  for (const Dtype storage : formats) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      Case c = small_language_model(seed, storage, seed % 4 < 2 ? "wte" : "");
      if (seed % 2 == 0) c.execution.kernels["embedding.gradient"] = "atomic_add";
      c.execution.recompute = seed % 3 == 0;
      expect_clean(c, {}, std::string(name_of(storage)) + " " + std::to_string(seed));
    }
  }
}

TEST(Tokens, LeaveTheRowOfThePaddingTokenAlone) {
  Case c = small_language_model(3);
  c.model.layers[0].options["padding_index"] = std::int64_t{1};
  expect_clean(c, {}, "padding_index");
}

TEST(Tokens, LeaveATableOutOfTheDecayByItsName) {
  for (const char* decay : {"l2", "decoupled"}) {
    Case c = small_language_model(8, Dtype::fp32, "wte");
    c.recipe.weight_decay =
        choice_of("weight_decay", decay,
                  {{"lambda", Decimal{"0.5"}}, {"exclude", std::vector<std::string>{"wte.weight", "fc.bias"}}});
    expect_clean(c, {}, decay);
  }
}

/// Another subject claims no order: the bound holds the sum over a token's rows in any.
TEST(Tokens, PassWithoutAClaimOfTheOrder) {
  for (const Dtype storage : formats) {
    const Case c = small_language_model(2, storage);
    Trace trace = run(c);
    for (const char* operation : {"embedding.gradient", "position_embedding.forward"}) {
      ASSERT_TRUE(trace.claims.kernels.contains(operation)) << operation;
      trace.claims.kernels.erase(operation);
    }
    const auto checks = hard_lenses(c, trace, Grouping::declared).checks;
    EXPECT_EQ(first_failure(checks), nullptr) << told(first_failure(checks));
  }
}

void expect_first_failure(const Case& c, const Trace& wrong, const std::string& tap) {
  const auto checks = local_lens(c, wrong);
  const TensorCheck* failure = first_failure(checks);
  ASSERT_NE(failure, nullptr) << tap << " changed in silence";
  EXPECT_EQ(failure->tap, tap) << told(failure);
}

/// Where no order is claimed a row's gradient has a bound alone: one addend less leaves it.
TEST(Tokens, FailWithoutAClaimOfTheOrderWhereARowIsForgotten) {
  const Case c = looked_up_case();
  Trace clean = run(c);
  clean.claims.kernels.erase("embedding.gradient");
  EXPECT_EQ(first_failure(local_lens(c, clean)), nullptr);

  const auto forget = [](Tensor& gradient) {  // of token 2's 6 and -2
    gradient.set(2, 6);
    return true;
  };
  expect_first_failure(c, changed(clean, "w0/m0/backward/d.wte.weight", forget), "w0/m0/backward/d.wte.weight");
}

/// One bit of a looked-up row, of a position's sum, of a table's gradient.
TEST(Tokens, FailWhereOneBitIsWrong) {
  const Case c = small_language_model(4);
  const Trace clean = run(c);
  for (const char* tap : {"w0/m1/forward/wte.y", "w0/m1/forward/wpe.y", "w0/m0/backward/d.wpe.x",
                          "w0/m0/backward/d.wte.weight", "w0/m1/backward/d.wpe.weight"}) {
    const auto flip = [](Tensor& tensor) {
      tensor.set_bits(1, tensor.bits(1) ^ 1);
      return true;
    };
    expect_first_failure(c, changed(clean, tap, flip), tap);
  }
}

/// Another token, one outside the vocabulary, other positions: named where they are read, and nothing is looked up.
TEST(Tokens, FailWhereAnotherRowIsNamed) {
  const Case c = small_language_model(5);
  const Trace clean = run(c);
  for (const char* tap : {"w0/m0/forward/in.tokens", "w0/m1/backward/in.tokens", "w1/m0/forward/in.positions"}) {
    for (const double other : {4.0, 5.0, -1.0, 1e18}) {
      const auto rename = [&](Tensor& tensor) {
        tensor.set(0, tensor.value(0) == other ? 3 : other);
        return true;
      };
      expect_first_failure(c, changed(clean, tap, rename), tap);
    }
  }
}

TEST(Tokens, FailWhereAUseOfATiedWeightIsForgotten) {
  const Case c = small_language_model(7, Dtype::fp32, "wte");
  const Trace clean = run(c);
  const Tensor alone = *clean.find("w0/m1/backward/d.wte.weight@head");
  expect_first_failure(c, changed(clean, "w0/m1/fork/d.wte.weight", [&](Tensor& sum) { return sum = alone, true; }),
                       "w0/m1/fork/d.wte.weight");
  expect_first_failure(c,
                       changed(clean, "w0/m1/accumulate/in.d.wte.weight", [&](Tensor& d) { return d = alone, true; }),
                       "w0/m1/accumulate/in.d.wte.weight");
}

void pass_without_a_tap(const Case& c) {
  const Trace clean = run(c);
  std::size_t left_out = 0;
  for (const Tap& tap : clean.taps()) {
    const std::string& tensor = tap.name.tensor;
    const bool of_a_table = tensor.find("wte") != std::string::npos || tensor.find("wpe") != std::string::npos ||
                            tensor == "in.tokens" || tensor == "in.positions";
    if (tap.name.micro_batch < 0 || !of_a_table) continue;
    ++left_out;
    const Trace some = changed(clean, tap.name.text(), [](Tensor&) { return false; });
    const auto checks = hard_lenses(c, some, Grouping::inferred).checks;
    EXPECT_EQ(first_failure(checks), nullptr) << tap.name.text() << " " << told(first_failure(checks));
  }
  EXPECT_GT(left_out, 0u);
}

/// Any one tap of tables may be missing from a capture: what comes of it is judged by later taps.
TEST(Tokens, PassWithoutATapWhoseEffectALaterOneShows) {
  for (const std::string tied : {"", "wte"}) pass_without_a_tap(small_language_model(6, Dtype::fp32, tied));
}

}  // namespace
}  // namespace tally::token_test
