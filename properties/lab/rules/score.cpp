// What the trials amount to, counted by judge, format, gradient size and fault, as tables and plots.
#include "properties/lab/rules/score.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/lab/published/rule.hpp"
#include "properties/lab/statistics.hpp"

namespace tally {
namespace {

void add_answers(Scores& scores, Count Score::*member, const Answers& answers) {
  scores.resize(judges().size());
  for (std::size_t i = 0; i < answers.size(); ++i) (scores[i].*member).add(answers[i]);
}

/// What tells a faulty run from the clean one of the same case.
Answers told_apart(const Trial& trial) {
  Answers answers = trial.own;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] == '1' && trial.clean[i] != '0') answers[i] = '0';
  }
  return answers;
}

void add_scores(Scores& sum, const Scores& scores) {
  sum.resize(judges().size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (Count Score::*member :
         {&Score::clean, &Score::own, &Score::trusted, &Score::first_clean, &Score::first_own, &Score::apart}) {
      (sum[i].*member).events += (scores[i].*member).events;
      (sum[i].*member).trials += (scores[i].*member).trials;
    }
  }
}

}  // namespace

void Scoreboard::add(const TrialSetting& setting, const Trial& trial) {
  const std::pair key(setting.storage, setting.exponent);
  add_answers(by_setting[key], &Score::clean, trial.clean);
  add_answers(by_setting[key], &Score::first_clean, trial.first_clean);
  gradients[key].push_back(trial.gradient);
  const std::string place = std::string(name_of(setting.storage)) + ", gradients 2^" + std::to_string(setting.exponent);
  if (!trial.alarmed.empty()) alarmed.push_back(trial.alarmed + " (" + place + ")");
  if (!setting.fault || !trial.shown) return;
  for (Scores* scores : {&by_setting[key], &by_fault[setting.fault->name]}) {
    add_answers(*scores, &Score::own, trial.own);
    add_answers(*scores, &Score::trusted, trial.trusted);
    add_answers(*scores, &Score::first_own, trial.first_own);
    add_answers(*scores, &Score::apart, told_apart(trial));
  }
  if (!trial.missed.empty()) missed.push_back(trial.missed + " (" + place + ")");
}

Scores together(const Scoreboard& board) {
  Scores sum(judges().size());
  for (const auto& [key, scores] : board.by_setting) add_scores(sum, scores);
  return sum;
}

Scores together(const Scoreboard& board, Dtype storage) {
  Scores sum(judges().size());
  for (const auto& [key, scores] : board.by_setting) {
    if (key.first == storage) add_scores(sum, scores);
  }
  return sum;
}

namespace {

std::string of(const Count& count) {
  if (count.trials == 0) return "–";
  return std::to_string(count.events) + " of " + std::to_string(count.trials);
}

/// The columns of a table, filled row by row.
class Columns {
 public:
  explicit Columns(const std::vector<std::string>& names) {
    for (const std::string& name : names) columns_.push_back({name, {}, {}});
  }
  Columns& word(const std::string& word) {
    columns_[next()].words.push_back(word);
    return *this;
  }
  Columns& number(double number) {
    columns_[next()].numbers.push_back(number);
    return *this;
  }
  std::vector<StudyColumn> take() { return std::move(columns_); }

 private:
  std::size_t next() { return next_++ % columns_.size(); }
  std::vector<StudyColumn> columns_;
  std::size_t next_ = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

}  // namespace

std::string size_name(int exponent) { return exponent == 0 ? "1" : exponent == -10 ? "1e-3" : "1e-6"; }

double share(const Count& count) {
  return count.trials == 0 ? 0 : 100 * static_cast<double>(count.events) / static_cast<double>(count.trials);
}

std::string percent(const Count& count) {
  if (count.trials == 0) return "–";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", share(count));
  return text;
}

StudyTable table_by_judge(const Scoreboard& board) {
  std::vector<std::string> titles{"judge"};
  for (const std::string& format : names_of(storage_formats()))
    titles.insert(titles.end(), {format + " caught", format + " false alarms"});
  titles.insert(titles.end(), {"all caught", "told apart", "all false alarms", "at most, %"});
  Columns columns(titles);
  const Scores all = together(board);
  for (std::size_t i = 0; i < judges().size(); ++i) {
    columns.word(judges()[i]);
    for (const Dtype storage : storage_formats()) {
      const Score score = together(board, storage)[i];
      columns.word(percent(score.own)).word(percent(score.clean));
    }
    columns.word(of(all[i].own)).word(percent(all[i].apart)).word(of(all[i].clean));
    columns.number(100 * clopper_pearson_upper(all[i].clean.events, all[i].clean.trials, confidence));
  }
  return {
      "Caught and false alarms, all gradient sizes",
      "Caught: faulty runs rejected when the accumulated run is held against the same program's own full batch. Told "
      "apart: those of them whose clean run is accepted; the others are rejected either way. False alarms: clean runs "
      "rejected, and the upper limit of their share at 95 % (Clopper-Pearson).",
      columns.take()};
}

StudyTable table_by_use(const Scoreboard& board) {
  Columns columns({"rule", "caught", "caught, reference without the fault", "false alarms",
                   "caught, first gradients alone", "false alarms, first gradients alone"});
  const Scores all = together(board);
  for (std::size_t i = judges_of_tally; i < judges().size(); ++i) {
    columns.word(judges()[i]).word(percent(all[i].own)).word(percent(all[i].trusted)).word(percent(all[i].clean));
    columns.word(percent(all[i].first_own)).word(percent(all[i].first_clean));
  }
  return {
      "The rules used otherwise",
      "A program without the fault to compare with shows faults that both runs of one program share. Who looks at "
      "the first window's gradients alone sees fewer false alarms, and no fault of norm, clip, optimizer or schedule.",
      columns.take()};
}

StudyTable table_by_setting(const Scoreboard& board) {
  Columns columns({"judge", "storage", "gradient size", "caught, %", "caught, reference without the fault, %",
                   "faulty runs", "false alarms, %", "false alarms at most, %", "clean runs",
                   "median gradient, root mean square"});
  for (const auto& [key, scores] : board.by_setting) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const Score& score = scores[i];
      if (score.clean.trials == 0) continue;
      columns.word(judges()[i]).word(std::string(name_of(key.first))).word(size_name(key.second));
      columns.number(share(score.own)).number(share(score.trusted)).number(static_cast<double>(score.own.trials));
      columns.number(share(score.clean));
      columns.number(100 * clopper_pearson_upper(score.clean.events, score.clean.trials, confidence));
      columns.number(static_cast<double>(score.clean.trials)).number(median(board.gradients.at(key)));
    }
  }
  return {"By storage format and gradient size",
          "A judge that is not made for a format has no row there. The last column is what the lever of gradient sizes "
          "really gave.",
          columns.take()};
}

StudyTable table_by_fault(const Scoreboard& board) {
  std::vector<std::string> names{"fault"};
  names.insert(names.end(), judges().begin(), judges().end());
  Columns columns(names);
  for (const auto& [fault, scores] : board.by_fault) {
    columns.word(fault);
    for (const Score& score : scores) columns.word(of(score.own));
  }
  return {"By fault",
          "Faulty runs rejected, of those in which the fault changed something; the reference is the same "
          "program's own full batch.",
          columns.take()};
}

StudyTable table_of_rules() {
  Columns columns({"rule", "accepts", "source"});
  for (const PublishedRule* rule : published_rules()) columns.word(rule->name).word(rule->statement).word(rule->source);
  return {"The published rules", "", columns.take()};
}

namespace {

/// A point with the two-sided interval of its share.
void add_point(StudySeries& series, double x, const Count& count) {
  const double side = (1 + confidence) / 2;
  series.x.push_back(x);
  series.y.push_back(share(count));
  series.low.push_back(100 * clopper_pearson_lower(count.events, count.trials, side));
  series.high.push_back(100 * clopper_pearson_upper(count.events, count.trials, side));
}

void add_series(StudyPlot& plot, StudySeries series) {
  if (!series.x.empty()) plot.series.push_back(std::move(series));
}

StudyPlot caught_against_alarms(const Scoreboard& board) {
  StudyPlot plot{"Caught against false alarms", "clean runs rejected, %", "faulty runs rejected, %", false, false, {}};
  for (std::size_t i = 0; i < judges().size(); ++i) {
    StudySeries series{judges()[i], {}, {}, {}, {}};
    for (const Dtype storage : storage_formats()) {
      const Score score = together(board, storage)[i];
      if (score.own.trials > 0 && score.clean.trials > 0) add_point(series, share(score.clean), score.own);
    }
    add_series(plot, std::move(series));
  }
  return plot;
}

StudyPlot caught_against_size(const Scoreboard& board, Dtype storage) {
  StudyPlot plot{
      "Faults caught, " + std::string(name_of(storage)), "gradient size", "faulty runs rejected, %", true, false, {}};
  for (std::size_t i = 0; i < judges().size(); ++i) {
    StudySeries series{judges()[i], {}, {}, {}, {}};
    for (const auto& [key, scores] : board.by_setting) {
      if (key.first == storage && scores[i].own.trials > 0) {
        add_point(series, std::ldexp(1.0, key.second), scores[i].own);
      }
    }
    add_series(plot, std::move(series));
  }
  return plot;
}

}  // namespace

std::vector<StudyPlot> plots_of(const Scoreboard& board) {
  std::vector<StudyPlot> plots{caught_against_alarms(board)};
  for (const Dtype storage : storage_formats()) plots.push_back(caught_against_size(board, storage));
  return plots;
}

}  // namespace tally
