#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "oracle/exact/exact.hpp"
#include "tests/oracle/window/small_case.hpp"

namespace tally::oracle::exact_stages_test {
namespace {

using Wide = long double;

Matrix<Wide> row(std::initializer_list<Wide> values) {
  Matrix<Wide> result(1, static_cast<Eigen::Index>(values.size()));
  Eigen::Index i = 0;
  for (const Wide value : values) result(i++) = value;
  return result;
}

Choice sgd(const char* momentum, const char* dampening = "0", bool nesterov = false) {
  return {"sgd", {{"momentum", Decimal{momentum}}, {"dampening", Decimal{dampening}}, {"nesterov", nesterov}}};
}

// Dyadic numbers throughout, so that every expected value is exact in any order.

TEST(ExactSgd, WithoutMomentumKeepsNoBufferAndIgnoresDampening) {
  const Slot<Wide> slot = updated<Wide>(sgd("0", "0.5"), 0.5L, 7, row({4}), {row({10})});

  EXPECT_EQ(slot.parameter, row({8}));
  EXPECT_TRUE(slot.state.empty());
}

TEST(ExactSgd, StartsItsBufferWithTheGradientItself) {
  const Slot<Wide> slot = updated<Wide>(sgd("0.5", "0.25"), 0.5L, 0, row({4}), {row({10})});

  EXPECT_EQ(slot.state[0], row({4}));
  EXPECT_EQ(slot.parameter, row({8}));
}

TEST(ExactSgd, DampensTheGradientOnceThereIsABuffer) {
  const Slot<Wide> slot = updated<Wide>(sgd("0.5", "0.25"), 0.5L, 1, row({4}), {row({10}), {row({8})}});

  EXPECT_EQ(slot.state[0], row({7}));  // 0.5 · 8 + 0.75 · 4
  EXPECT_EQ(slot.parameter, row({6.5}));
}

TEST(ExactSgd, LooksAheadWithNesterov) {
  const Slot<Wide> slot = updated<Wide>(sgd("0.5", "0", true), 0.5L, 1, row({4}), {row({10}), {row({8})}});

  EXPECT_EQ(slot.state[0], row({8}));
  EXPECT_EQ(slot.parameter, row({6}));  // 10 - 0.5 (4 + 0.5 · 8)
}

TEST(ExactAdam, CorrectsBothMomentsAndAddsEpsOutsideTheRoot) {
  const Choice adam{"adam", {{"beta1", Decimal{"0.5"}}, {"beta2", Decimal{"0.75"}}, {"eps", Decimal{"2"}}}};

  const Slot<Wide> slot = updated<Wide>(adam, 0.5L, 1, row({1}), {row({10}), {row({2}), row({2})}});

  EXPECT_EQ(slot.state[0], row({1.5}));    // 0.5 · 2 + 0.5 · 1
  EXPECT_EQ(slot.state[1], row({1.75}));   // 0.75 · 2 + 0.25 · 1
  EXPECT_EQ(slot.parameter, row({9.75}));  // 1.5 / (1 - 1/4) = 2; sqrt(1.75 / (1 - 9/16)) = 2; 0.5 · 2 / (2 + 2)
}

TEST(ExactAdam, StartsWithZeroMoments) {
  const Choice adam{"adam", {{"beta1", Decimal{"0.5"}}, {"beta2", Decimal{"0.75"}}, {"eps", Decimal{"1"}}}};

  const Slot<Wide> slot = updated<Wide>(adam, 0.5L, 0, row({3}), {row({10})});

  EXPECT_EQ(slot.parameter, row({9.625}));  // 3 / (3 + 1) of 0.5
}

Choice global_norm(const char* max_norm, const char* norm, const char* epsilon = "0") {
  return {"global_norm", {{"max_norm", Decimal{max_norm}}, {"norm", std::string(norm)}, {"epsilon", Decimal{epsilon}}}};
}

TEST(ExactClip, MeasuresAllParametersTogether) {
  const Tensors<Wide> gradients{{"a", row({3, 0})}, {"b", row({-4})}};

  EXPECT_EQ(gradient_norm(global_norm("1", "2"), gradients), 5);
  EXPECT_EQ(gradient_norm(global_norm("1", "1"), gradients), 7);
  EXPECT_EQ(gradient_norm(global_norm("1", "inf"), gradients), 4);
  EXPECT_EQ(gradient_norm(Choice{"value", {{"max_value", Decimal{"1"}}}}, gradients), 5);
}

TEST(ExactClip, LetsNanWinInEveryNorm) {
  const Wide nan = std::numeric_limits<Wide>::quiet_NaN();

  for (const char* norm : {"1", "2", "inf"})
    EXPECT_TRUE(std::isnan(gradient_norm(global_norm("1", norm), Tensors<Wide>{{"a", row({1, nan, 9})}}))) << norm;
  EXPECT_TRUE(std::isnan(clip_coefficient(global_norm("1", "2"), nan, 0)));
}

TEST(ExactClip, ScalesDownOnly) {
  EXPECT_EQ(clip_coefficient<Wide>(global_norm("2", "2", "4"), 4, 0), 0.25L);
  EXPECT_EQ(clip_coefficient<Wide>(global_norm("2", "2"), 1, 0), 1);
  EXPECT_EQ(clip_coefficient<Wide>(global_norm("2", "2"), 0, 0), 1);
  EXPECT_EQ(clip_coefficient<Wide>(Choice{"none", {}}, 8, 0), 1);
}

TEST(ExactClip, ClampsByValueOnBothSides) {
  const Choice clip{"value", {{"max_value", Decimal{"2"}}}};

  EXPECT_EQ(clipped<Wide>(clip, 1, row({-3, -2, 1, 5})), row({-2, -2, 1, 2}));
  EXPECT_EQ(clipped<Wide>(global_norm("1", "2"), 0.5L, row({-3, 5})), row({-1.5, 2.5}));
}

TEST(ExactDecay, ExcludesBiasesAndNormsAsNamed) {
  const Model model = small_case({{2}}, "window").model;
  const auto decay = [](std::vector<std::string> exclude) {
    return Choice{"l2", {{"lambda", Decimal{"0.5"}}, {"exclude", std::move(exclude)}}};
  };

  EXPECT_TRUE(decays(model, decay({}), "bn.bias"));
  EXPECT_FALSE(decays(model, decay({"bias"}), "bn.bias"));
  EXPECT_FALSE(decays(model, decay({"bias"}), "fc1.bias"));
  EXPECT_TRUE(decays(model, decay({"bias"}), "bn.weight"));
  EXPECT_FALSE(decays(model, decay({"norm"}), "bn.weight"));
  EXPECT_FALSE(decays(model, decay({"norm"}), "bn.bias"));
  EXPECT_TRUE(decays(model, decay({"norm"}), "fc1.bias"));
  EXPECT_FALSE(decays(model, decay({"fc1.weight"}), "fc1.weight"));
  EXPECT_TRUE(decays(model, decay({"fc1.weight"}), "fc1.bias"));
  EXPECT_FALSE(decays(model, Choice{"none", {}}, "fc1.weight"));
  EXPECT_TRUE(decays(model, decay({"embedding"}), "fc1.weight"));
}

TEST(ExactDecay, IsCoupledOrNot) {
  const auto decay = [](const char* kind) { return Choice{kind, {{"lambda", Decimal{"0.5"}}}}; };

  EXPECT_EQ(decayed<Wide>(decay("l2"), 0.5L, row({1}), row({4})), row({3}));
  EXPECT_EQ(decayed<Wide>(decay("decoupled"), 0.5L, row({1}), row({4})), row({3}));
}

TEST(ExactSchedule, StepsAndHolds) {
  const Choice step{"step", {{"base", Decimal{"8"}}, {"every", std::int64_t{3}}, {"factor", Decimal{"0.5"}}}};

  EXPECT_EQ(learning_rate<Wide>(step, 0), 8);
  EXPECT_EQ(learning_rate<Wide>(step, 2), 8);
  EXPECT_EQ(learning_rate<Wide>(step, 3), 4);
  EXPECT_EQ(learning_rate<Wide>(step, 6), 2);
}

TEST(ExactSchedule, FollowsAListFromItsFirstStepOn) {
  const std::vector<Decimal> rates{{"4"}, {"2"}, {"1"}};
  const Choice list{"list", {{"rates", rates}, {"first", std::int64_t{10}}}};

  EXPECT_EQ(learning_rate<Wide>(list, 0), 4);
  EXPECT_EQ(learning_rate<Wide>(list, 10), 4);
  EXPECT_EQ(learning_rate<Wide>(list, 11), 2);
  EXPECT_EQ(learning_rate<Wide>(list, 12), 1);
  EXPECT_EQ(learning_rate<Wide>(list, 1000), 1);
}

TEST(ExactSchedule, WarmsUpThenFallsToTheFloor) {
  const Choice cosine{
      "warmup_cosine",
      {{"base", Decimal{"8"}}, {"warmup", std::int64_t{4}}, {"total", std::int64_t{10}}, {"floor", Decimal{"2"}}}};
  const Wide rounding = 8 * 4 * std::numeric_limits<Wide>::epsilon();  // four operations on numbers up to 8

  EXPECT_EQ(learning_rate<Wide>(cosine, 0), 2);
  EXPECT_EQ(learning_rate<Wide>(cosine, 3), 8);
  EXPECT_EQ(learning_rate<Wide>(cosine, 4), 8);
  EXPECT_LE(std::fabs(learning_rate<Wide>(cosine, 6) - 6.5L), rounding);  // cos 60° = 1/2
  EXPECT_LE(std::fabs(learning_rate<Wide>(cosine, 7) - 5), rounding);
  EXPECT_EQ(learning_rate<Wide>(cosine, 10), 2);
  EXPECT_EQ(learning_rate<Wide>(cosine, 1000), 2);
}

TEST(ExactRunningStatistics, TakeTheUnbiasedVariance) {
  const Layer layer{{"batch_norm", {{"momentum", Decimal{"0.25"}}}}, "bn"};

  EXPECT_EQ(running_mean<Wide>(layer, row({8}), row({4})), row({7}));
  EXPECT_EQ(running_var<Wide>(layer, row({8}), row({3}), 4), row({7}));  // 0.75 · 8 + 0.25 · 3 · 4/3
}

TEST(ExactScaler, GrowsAfterCleanWindowsAndBacksOff) {
  const Choice dynamic{"dynamic",
                       {{"initial", Decimal{"1024"}},
                        {"growth_factor", Decimal{"2"}},
                        {"backoff_factor", Decimal{"0.5"}},
                        {"growth_interval", std::int64_t{3}},
                        {"growth_counter", std::int64_t{1}}}};

  const Scale<Wide> start = initial_scale<Wide>(dynamic);
  const Scale<Wide> clean = next_scale(dynamic, start, false), grown = next_scale(dynamic, clean, false);
  const Scale<Wide> backed_off = next_scale(dynamic, clean, true);

  EXPECT_EQ(start.scale, 1024);
  EXPECT_EQ(clean.scale, 1024);
  EXPECT_EQ(clean.growth_counter, 2);
  EXPECT_EQ(grown.scale, 2048);
  EXPECT_EQ(grown.growth_counter, 0);
  EXPECT_EQ(backed_off.scale, 512);
  EXPECT_EQ(backed_off.growth_counter, 0);
}

TEST(ExactScaler, StandsStillWhenStatic) {
  const Choice fixed{"static", {{"scale", Decimal{"8"}}}};

  EXPECT_EQ(next_scale(fixed, initial_scale<Wide>(fixed), true).scale, 8);
  EXPECT_EQ(initial_scale<Wide>(Choice{"none", {}}).scale, 1);
}

TEST(ExactDivisor, FollowsTheNormalisation) {
  const auto of = [](Normalisation normalisation, std::size_t window, std::size_t micro_batch) {
    return divisor<Wide>(small_case({{3, 2}, {2, 2, 2}}, "window", normalisation), window, micro_batch);
  };

  EXPECT_EQ(of(Normalisation::window_items, 0, 1), 4);  // row 3 is ignored
  EXPECT_EQ(of(Normalisation::window_items, 1, 0), 6);
  EXPECT_EQ(of(Normalisation::mean_of_means, 0, 1), 2);
  EXPECT_EQ(of(Normalisation::mean_of_means, 1, 0), 6);
  EXPECT_EQ(of(Normalisation::mean_of_means_configured, 1, 0), 4);
  EXPECT_EQ(of(Normalisation::sum, 1, 0), 1);
}

TEST(ExactDivisor, IsZeroForAMicroBatchWithoutItems) {
  const Case c = small_case({{3, 1}}, "window", Normalisation::mean_of_means);

  EXPECT_EQ(divisor<Wide>(c, 0, 1), 0);
  EXPECT_EQ(divisor<Wide>(c, 0, 0), 6);
}

}  // namespace
}  // namespace tally::oracle::exact_stages_test
