// Trials of the study of published rules: what is drawn, what the judges answer, and what it amounts to.
#include "properties/lab/rules/trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/case/io.hpp"
#include "oracle/exact/answer.hpp"
#include "properties/lab/published/rule.hpp"
#include "properties/lab/rules/score.hpp"

namespace tally::trial_test {
namespace {

constexpr std::uint64_t seed = 3;

TrialSetting setting_of(const std::string& fault, Dtype storage = Dtype::fp32, int exponent = 0) {
  return {fault.empty() ? nullptr : find_fault(fault), storage, exponent};
}

Trial trial_at(const TrialSetting& setting, int index = 0) {
  const auto drawn = drawn_case(setting, index, seed, {});
  EXPECT_TRUE(drawn.has_value());
  return drawn ? run_trial(setting, drawn->c, *drawn->law, {}) : Trial{};
}

char answer_of(const std::string& judge, const Answers& answers) {
  const auto found = std::find(judges().begin(), judges().end(), judge);
  return answers.at(static_cast<std::size_t>(found - judges().begin()));
}

TEST(DrawnCase, IsCutInEveryWindowAndEqualToItsFullBatch) {
  for (const char* fault : {"", "mean-of-means", "biased-running-variance", "last-window-wrong-divisor"}) {
    for (const int exponent : {0, -20}) {
      const auto drawn = drawn_case(setting_of(fault, Dtype::fp16, exponent), 1, seed, {});

      ASSERT_TRUE(drawn) << fault;
      for (const auto& window : drawn->c.windows) EXPECT_GE(window.size(), 2u) << fault;
      for (const auto& gap : oracle::semantic_gap(drawn->c)) EXPECT_EQ(gap.gradient, 0) << fault;
    }
  }
}

TEST(DrawnCase, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const TrialSetting setting = setting_of("extra-times-k");
  const auto hash = [&](int index, std::uint64_t from) { return hash_of(drawn_case(setting, index, from, {})->c); };

  EXPECT_EQ(hash(0, seed), hash(0, seed));
  EXPECT_NE(hash(0, seed), hash(1, seed));
  EXPECT_NE(hash(0, seed), hash(0, seed + 1));
}

TEST(DrawnCase, ShowsTheFault) {
  const TrialSetting setting = setting_of("double-unscale");

  EXPECT_TRUE(shows(*setting.fault, drawn_case(setting, 0, seed, {})->c, {}));
}

TEST(Trial, AsksEveryJudgeThatIsMadeForTheFormat) {
  const Trial trial = trial_at(setting_of("mean-of-means"));

  for (const Answers& answers : {trial.clean, trial.own, trial.trusted, trial.first_clean, trial.first_own}) {
    EXPECT_EQ(answers.size(), judges().size());
    EXPECT_EQ(answer_of("FlashAttention 2x", answers), '-');
  }
  EXPECT_NE(answer_of("FlashAttention 2x", trial_at(setting_of("mean-of-means", Dtype::bf16)).own), '-');
}

TEST(Trial, FindsAGrossFaultByEveryWayAndLeavesTheCleanRunAlone) {
  const Trial trial = trial_at(setting_of("mean-of-means"));

  EXPECT_TRUE(trial.shown);
  EXPECT_EQ(answer_of("accelerate rtol 1e-2", trial.own), '1');
  EXPECT_EQ(answer_of("Tally, lenses and law", trial.own), '1');
  EXPECT_EQ(answer_of("Tally, lenses and law", trial.clean), '0');
  EXPECT_EQ(trial.missed, "");
  EXPECT_EQ(trial.alarmed, "");
}

TEST(Trial, HidesFromTheRulesWhatBothRunsOfOneProgramShare) {
  const Trial trial = trial_at(setting_of("double-unscale"));

  EXPECT_EQ(answer_of("TTrace 8.3 %", trial.own), '0');
  EXPECT_EQ(answer_of("TTrace 8.3 %", trial.trusted), '1');
  EXPECT_EQ(answer_of("Tally, lenses and law", trial.own), '1');
}

TEST(Trial, IsTheSameLineWhateverRanBefore) {
  const TrialSetting setting = setting_of("uninitialised-accumulator", Dtype::fp16);

  const std::string line = text_of(trial_at(setting));
  trial_at(setting_of("missing-barrier"));

  EXPECT_EQ(text_of(trial_at(setting)), line);
}

TEST(Trial, ComesBackFromItsLine) {
  const Trial trial{true, 0.1, "01-", "1", "0", "", "-", "a_law", "missed\tit", "alarmed"};

  const Trial back = trial_of(text_of(trial));

  EXPECT_EQ(text_of(back), text_of(trial));
  EXPECT_EQ(back.gradient, trial.gradient);
  EXPECT_EQ(back.first_own, "-");
  EXPECT_EQ(back.missed, "missed it");
  EXPECT_EQ(trial_of(text_of(Trial{})).shown, false);
}

/// Two trials, one with a fault; judge 0 rejects all, judge 1 nothing, the others are not asked.
Scoreboard small_board() {
  const Answers unasked(judges().size() - 2, '-');
  Trial trial;
  trial.shown = true;
  trial.clean = trial.own = trial.trusted = trial.first_clean = trial.first_own = "10" + unasked;
  Scoreboard board;
  board.add(setting_of("mean-of-means"), trial);
  trial.missed = "a fault";
  board.add(setting_of("", Dtype::bf16, -10), trial);
  return board;
}

TEST(Scoreboard, CountsEachAnswerOnceAndWhatWasNotAskedNever) {
  const Scores all = together(small_board());

  EXPECT_EQ(all[0].clean.events, 2u);
  EXPECT_EQ(all[0].own.events, 1u);
  EXPECT_EQ(all[1].clean.events, 0u);
  EXPECT_EQ(all[1].clean.trials, 2u);
  EXPECT_EQ(all[2].clean.trials, 0u);
  EXPECT_EQ(together(small_board(), Dtype::bf16)[0].clean.events, 1u);
  EXPECT_EQ(small_board().missed.size(), 0u) << "a clean trial cannot miss a fault";
}

TEST(RulesTables, HaveAsManyRowsInEveryColumn) {
  const Scoreboard board = small_board();

  for (const StudyTable& table :
       {table_by_judge(board), table_by_use(board), table_by_setting(board), table_by_fault(board), table_of_rules()}) {
    const StudyColumn& first = table.columns.front();
    EXPECT_FALSE(first.words.empty()) << table.title;
    for (const StudyColumn& column : table.columns) {
      EXPECT_EQ(column.words.size() + column.numbers.size(), first.words.size()) << table.title << ": " << column.name;
      EXPECT_TRUE(column.words.empty() || column.numbers.empty()) << table.title << ": " << column.name;
    }
  }
}

TEST(Scoreboard, TellsApartOnlyWhereTheCleanRunWasAccepted) {
  Trial trial;
  trial.shown = true;
  trial.own = "1110" + Answers(judges().size() - 4, '-');
  trial.clean = "01-0" + Answers(judges().size() - 4, '-');
  Scoreboard board;
  board.add(setting_of("mean-of-means"), trial);

  const Scores scores = together(board);

  EXPECT_EQ(scores[0].apart.events, 1u);
  EXPECT_EQ(scores[1].apart.events, 0u);
  EXPECT_EQ(scores[2].apart.events, 0u);
  EXPECT_EQ(scores[3].apart.events, 0u);
  EXPECT_EQ(scores[3].apart.trials, 1u);
}

TEST(RulesPlots, PutEveryPointBetweenItsLimits) {
  const auto plots = plots_of(small_board());

  ASSERT_EQ(plots.size(), 4u);
  for (const StudyPlot& plot : {plots[0], plots[1]}) {
    ASSERT_EQ(plot.series.size(), 2u) << plot.title;
    for (const StudySeries& series : plot.series) {
      ASSERT_EQ(series.y.size(), 1u) << plot.title;
      EXPECT_LE(series.low[0], series.y[0]) << plot.title;
      EXPECT_LE(series.y[0], series.high[0]) << plot.title;
    }
  }
}

TEST(Percent, SaysSoWhereNothingWasCounted) {
  EXPECT_EQ(percent({0, 0}), "–");
  EXPECT_EQ(percent({1, 8}), "12.5 %");
}

}  // namespace
}  // namespace tally::trial_test
