// Clean runs in corners of the options, each of which a bound once refused: constants whose rounding moves with another
// constant's, accumulators that underflow in parts, cancelling corrections, counts beyond what a format holds.
#include "oracle/case/io.hpp"
#include "properties/judge/groups.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::clean_corners_test {
namespace {

/// One linear layer and mse, which every change starts from.
Case plain(std::vector<std::vector<std::int64_t>> windows) {
  Case c = small_case();
  c.model.layers = {layer_of("linear", "fc", {{"out", std::int64_t{2}}})};
  c.model.loss = choice_of("loss", "mse");
  c.windows = std::move(windows);
  return c;
}

Case filled(Case c, unsigned seed) {
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, seed);
  return c;
}

void set_step(Case& c, std::int64_t step) {
  Tensor tensor(Dtype::i64, {});
  tensor.set_bits(0, static_cast<std::uint64_t>(step));
  c.tensors["step"] = tensor;
}

void expect_clean(const Case& c, const std::string& what) {
  ASSERT_TRUE(validate(c).empty()) << what;
  const auto checks = hard_lenses(c, run(c), Grouping::declared).checks;
  EXPECT_FALSE(checks.empty()) << what;
  EXPECT_EQ(first_failure(checks), nullptr) << what << " " << told(first_failure(checks));
  EXPECT_EQ(count(checks, Status::not_run), 0u) << what << " " << missing(checks);
}

TEST(CleanCorners, HoldAScaleThatIsNoFloatByEveryDivisor) {
  struct Scale {
    const char *kind, *option, *value;
  };
  for (const Scale& scale : {Scale{"static", "scale", "1000.1"}, Scale{"static", "scale", "1e-3"},
                             Scale{"static", "scale", "123456.7"}, Scale{"dynamic", "initial", "3.3"}}) {
    for (std::int64_t rows = 1; rows <= 40; ++rows) {
      Case c = plain({{rows}, {1, 2}});
      c.recipe.loss_scale = choice_of("loss_scale", scale.kind, {{scale.option, Decimal{scale.value}}});
      expect_clean(filled(c, 1), std::string(scale.value) + " over " + std::to_string(rows));
    }
  }
}

TEST(CleanCorners, HoldPartsOfAProductThatUnderflowApartInHalfAccumulators) {
  for (const char* generation : {"tensor_core_v100", "tensor_core_a100", "tensor_core_h100"}) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
      Case c = plain({{7}});
      c.model.input = 1;
      c.model.layers = {layer_of("linear", "fc", {{"out", std::int64_t{8}}})};
      c.precision.storage = c.precision.compute = Dtype::fp16;
      c.execution.kernels = {{"gemm", generation}, {"gemm.split_k", "7"}};
      c = filled(c, seed);
      Tensor& x = c.tensors.at("x");
      for (std::size_t i = 0; i < x.elements(); ++i) x.set(i, x.value(i) * 0x1p-18);
      expect_clean(c, generation);
    }
  }
}

/// All rows alike, or all features: the variance of what a linear layer makes of them is 0, of binary64 values all but
/// 0.
TEST(CleanCorners, HoldTheStatisticsOfConstantColumnsBesideATinyEpsilon) {
  for (const char* kind : {"batch_norm", "layer_norm"}) {
    const bool rows_alike = std::string(kind) == "batch_norm";
    for (unsigned seed = 1; seed <= 30; ++seed) {
      Case c = plain({{3 + seed % 9}});
      c.model.input = 5;
      Options options{{"eps", Decimal{seed % 2 == 0 ? "1e-30" : "1e-33"}}};
      if (rows_alike) options["statistics"] = std::string("micro_batch");
      c.model.layers = {layer_of("linear", "fc", {{"out", std::int64_t{3 + seed % 7}}}),
                        layer_of(kind, "norm", options)};
      c = filled(c, seed);
      const auto repeat = [&](const char* name, std::size_t length) {
        Tensor& tensor = c.tensors.at(name);
        for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, tensor.value(i % length));
      };
      repeat(rows_alike ? "x" : "fc.weight", 5);
      if (!rows_alike) repeat("fc.bias", 1);
      expect_clean(c, kind + std::string(" ") + std::to_string(seed));
    }
  }
}

TEST(CleanCorners, HoldMomentsWhoseCorrectionCancelsToAFloat) {
  for (const char* beta2 : {"0.9999999999995", "0.99999999999", "0.99999999999999"}) {
    Case c = plain({{2}, {1}, {2}});
    c.recipe.optimizer = choice_of("optimizer", "adam", {{"beta2", Decimal{beta2}}});
    expect_clean(filled(c, 3), beta2);
  }
}

/// 1 - rate lambda, all but 0, is as far off as the rate is: a million times the factor's own rounding.
TEST(CleanCorners, HoldTheDecayOfARateAfterAMillionSteps) {
  const Options schedule{{"base", Decimal{"1"}}, {"every", std::int64_t{1}}, {"factor", Decimal{"0.999999"}}};
  for (const char* lambda : {"2.71828318", "2.7182831", "2.718283"}) {
    for (const char* optimizer : {"sgd", "adam"}) {
      Case c = plain({{2}, {1}});
      c.recipe.optimizer = choice_of("optimizer", optimizer);
      c.recipe.learning_rate = choice_of("learning_rate", "step", schedule);
      c.recipe.weight_decay = choice_of("weight_decay", "decoupled", {{"lambda", Decimal{lambda}}});
      c = filled(c, 5);
      set_step(c, 1000000);
      expect_clean(c, std::string(optimizer) + " " + lambda);
    }
  }
}

/// Every rounding of the loss is half a last place downwards, and the conversion of the weight is one of them:
/// d = 1 + 2^-12 + 2^-24, d d = 1 + 2^-11 + 2^-24, w = 2^24 + 2049.
TEST(CleanCorners, HoldItemWeightsThatNoFloatHolds) {
  for (const std::int64_t weight : {(std::int64_t{1} << 24) + 2049, (std::int64_t{1} << 24) + 1,
                                    (std::int64_t{1} << 53) + 1, (std::int64_t{1} << 62) + 1}) {
    Case c = plain({{1, 1}});
    c.model.input = 1;
    c.model.layers = {layer_of("linear", "fc", {{"out", std::int64_t{1}}})};
    c.model.loss = choice_of("loss", "mse", {{"item_weights", true}});
    c = filled(c, 1);
    c.tensors["item_weight"] = Tensor(Dtype::i64, {2});
    for (const std::size_t row : {0, 1}) {
      c.tensors["item_weight"].set_bits(row, static_cast<std::uint64_t>(weight));
      c.tensors["target"].set(row, -0x1p-12 - 0x1p-24);
    }
    c.tensors["fc.weight"].set(0, 0);
    c.tensors["fc.bias"].set(0, 1);
    expect_clean(c, std::to_string(weight));
  }
}

/// beta2 so near 1 that (1 - beta2) g^2 is lost: the step is then |g| over epsilon, far beyond the rate.
TEST(CleanCorners, HoldAdamWhereSquaresUnderflowBesideASmallEpsilon) {
  for (const char* beta2 : {"0.999999999999", "0.999", "0.9"}) {
    for (const char* eps : {"1e-18", "8.7e-19", "1e-17", "1e-22"}) {
      for (int exponent = -80; exponent <= -50; ++exponent) {
        Case c = plain({{1}, {1}});
        c.model.input = 1;
        c.model.layers = {layer_of("linear", "fc", {{"out", std::int64_t{1}}})};
        c.recipe.optimizer = choice_of("optimizer", "adam", {{"beta2", Decimal{beta2}}, {"eps", Decimal{eps}}});
        c = filled(c, 1);
        for (const char* name : {"fc.weight", "fc.bias"}) c.tensors[name].set(0, 0);
        for (const std::size_t row : {0, 1}) {
          c.tensors["x"].set(row, 1);
          c.tensors["target"].set(row, -std::ldexp(1, exponent));
        }
        expect_clean(c, std::string(beta2) + " " + eps + " 2^" + std::to_string(exponent));
      }
    }
  }
}

TEST(CleanCorners, CountStepsExactlyBeyondWhatADoubleHolds) {
  for (const std::int64_t step :
       {(std::int64_t{1} << 53) + 1, (std::int64_t{1} << 62) + 1, std::numeric_limits<std::int64_t>::max() - 2}) {
    Case c = filled(plain({{2}, {1}}), 2);
    set_step(c, step);
    expect_clean(c, std::to_string(step));
    Trace trace = run(c);
    Tensor wrong(Dtype::i64, {});
    wrong.set_bits(0, static_cast<std::uint64_t>(step));
    trace.add({0, -1, "schedule", "step"}, wrong);
    EXPECT_NE(first_failure(local_lens(c, trace)), nullptr) << "a count that stands still must fail";
  }
}

TEST(CleanCorners, HoldARateOfZeroWhoseFactorOverflows) {
  const Options schedule{{"base", Decimal{"0"}}, {"every", std::int64_t{1}}, {"factor", Decimal{"1e300"}}};
  for (const char* optimizer : {"sgd", "adam"}) {
    Case c = plain(std::vector<std::vector<std::int64_t>>(20, {1}));
    c.recipe.optimizer = choice_of("optimizer", optimizer);
    c.recipe.learning_rate = choice_of("learning_rate", "step", schedule);
    expect_clean(filled(c, 4), optimizer);
  }
}

}  // namespace
}  // namespace tally::clean_corners_test
