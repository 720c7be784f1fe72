#include "properties/studies/rules/tables.hpp"

#include <algorithm>
#include <cstdio>

#include "oracle/case/formats.hpp"
#include "properties/studies/clopper_pearson.hpp"
#include "properties/studies/published/rule.hpp"

namespace tally {
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

}  // namespace tally
