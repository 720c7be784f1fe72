// What a loop may do to the factor on its way from 1 / K to a row, as it claims.
#include "kernels/training_step/stages.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/judge/groups.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::factor_claim_test {
namespace {

float count(std::size_t n) { return static_cast<float>(n); }

/// fl(fl(scale / K) / n), as `(loss / K).backward()` of a mean does.
void divide_twice(Run& run) {
  const std::size_t micro_batches = run.c.windows[static_cast<std::size_t>(run.window)].size();
  run.factor = run.window_scale / count(micro_batches) / static_cast<float>(run.items(run.micro_batch));
}

template <int word>
void divide_and_claim(Run& run) {
  divide_twice(run);
  run.trace.claims.factor = word == 2 ? "fp32_twice" : word == 1 ? "fp32" : "binary64";
}

template <int word>
const Stages& dividing_twice() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.factor = divide_and_claim<word>;
    return copy;
  }();
  return stages;
}

Case means(std::size_t micro_batches, std::int64_t rows, Normalisation normalisation, const char* scale) {
  Case c = small_case();
  c.model.loss = choice_of("loss", "mse");
  c.windows = {std::vector<std::int64_t>(micro_batches, rows)};
  c.normalisation = normalisation;
  c.recipe.loss_scale = choice_of("loss_scale", "static", {{"scale", Decimal{scale}}});
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 3);
  return c;
}

const Stages& stages_of(int word) {
  return word == 2 ? dividing_twice<2>() : word == 1 ? dividing_twice<1>() : dividing_twice<0>();
}

std::vector<TensorCheck> checks_of(const Case& c, int word) {
  RunOptions options;
  options.stages = &stages_of(word);
  return hard_lenses(c, run(c, options), Grouping::declared).checks;
}

TEST(FactorClaim, LetsALoopDivideTwiceThatSaysSo) {
  std::size_t refused = 0;
  for (const auto normalisation : {Normalisation::window_items, Normalisation::mean_of_means}) {
    for (const char* scale : {"1024", "1000.1"}) {
      for (const std::size_t micro_batches : {1, 3, 5, 7, 11}) {
        for (const std::int64_t rows : {1, 3, 5, 7}) {
          const Case c = means(micro_batches, rows, normalisation, scale);
          const auto twice = checks_of(c, 2);
          EXPECT_EQ(first_failure(twice), nullptr) << told(first_failure(twice));
          EXPECT_EQ(tally::count(twice, Status::not_run), 0u);
          refused += first_failure(checks_of(c, 0)) != nullptr ? 1 : 0;
        }
      }
      EXPECT_GT(refused, 0u) << "without the claim one rounding is demanded";
    }
  }
}

TEST(FactorClaim, StillDemandsTheBitsOfTwoDivisions) {
  const Case c = means(3, 5, Normalisation::window_items, "1");
  RunOptions options;
  options.stages = &stages_of(2);
  Trace trace = run(c, options);
  for (const float direction : {INFINITY, -INFINITY}) {
    Tensor off = *trace.find("w0/m0/loss/in.factor");
    off.set(0, std::nextafter(static_cast<float>(off.value(0)), direction));
    Trace changed;
    changed.claims = trace.claims;
    for (const Tap& tap : trace.taps()) {
      changed.add(tap.name, tap.name.text() == "w0/m0/loss/in.factor" ? off : tap.value);
    }
    const auto checks = local_lens(c, changed);
    ASSERT_NE(first_failure(checks), nullptr);
    EXPECT_EQ(first_failure(checks)->tap, "w0/m0/loss/in.factor");
  }
}

TEST(FactorClaim, RefusesAWrongCountUnderEveryWord) {
  for (const int word : {0, 1, 2}) {
    const Case c = means(4, 3, Normalisation::window_items, "1");
    Stages wrong = stages_of(word);
    RunOptions options;
    options.stages = &wrong;
    Trace trace = run(c, options);
    Tensor off = *trace.find("w0/m0/loss/in.factor");
    off.set(0, 1.0 / 9);  // K - 1 micro-batches
    Trace changed;
    changed.claims = trace.claims;
    for (const Tap& tap : trace.taps()) {
      changed.add(tap.name, tap.name.text() == "w0/m0/loss/in.factor" ? off : tap.value);
    }
    EXPECT_NE(first_failure(local_lens(c, changed)), nullptr) << word;
  }
}

/// fl(fl(scale / N) R), as `sum / N * R` leaves it; `more` is one more rounding, and a wrong one where it is not 0.
template <int more>
void multiply_ranks_in(Run& run) {
  std::int64_t rows = 0;
  for (const std::int64_t each : whole_of(run.c).windows[static_cast<std::size_t>(run.window)]) rows += each;
  run.factor = run.window_scale / static_cast<float>(rows) * 3.0F;
  for (int i = 0; i < more; ++i) run.factor = std::nextafter(run.factor, INFINITY);
  run.trace.claims.factor = "fp32_twice";
}

template <int more>
std::vector<TensorCheck> checks_of_ranks() {
  Case c = means(4, 7, Normalisation::window_items, "1");
  c.dealt = {{2, 1, 1}};
  c = with_rank_option(std::move(c), "reduce.divide", std::string("before"));
  Stages stages = shipped_stages();
  stages.factor = multiply_ranks_in<more>;
  RunOptions options;
  options.stages = &stages;
  return hard_lenses(c, run(c, options), Grouping::declared).checks;
}

TEST(FactorClaim, LetsANumberOfRanksThatRoundsBeMultipliedIn) {
  const auto right = checks_of_ranks<0>();
  EXPECT_EQ(first_failure(right), nullptr) << told(first_failure(right));
  const auto wrong = checks_of_ranks<4>();  // three roundings are less than four neighbours
  ASSERT_NE(first_failure(wrong), nullptr);
  EXPECT_EQ(first_failure(wrong)->tap, "w0/r0/m0/loss/in.factor");
}

}  // namespace
}  // namespace tally::factor_claim_test
