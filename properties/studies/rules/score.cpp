#include "properties/studies/rules/score.hpp"

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

}  // namespace tally
