#include "properties/studies/rules/trial.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "properties/campaign/law_task.hpp"
#include "properties/compare/lens.hpp"
#include "properties/laws/without_suspects.hpp"
#include "properties/studies/published/observed.hpp"
#include "properties/studies/rules/gradient_size.hpp"

namespace tally {
namespace {

char answer(bool rejected) { return rejected ? '1' : '0'; }

RunOptions with_fault(const RunOptions& subject, const Fault& fault) {
  RunOptions faulty = subject;
  faulty.stages = &fault.stages();
  return faulty;
}

/// A subject's full batch in the case's storage and in fp32.
struct FullBatch {
  Trace plain, precise;
  FullBatch(const Case& c, const RunOptions& subject)
      : plain(run(full_batch_of(c), subject)), precise(run(in_fp32(full_batch_of(c)), subject)) {}
};

/// As in judges().
std::vector<const PublishedRule*> rules() {
  std::vector<const PublishedRule*> all = published_rules();
  std::stable_partition(all.begin(), all.end(), [](const PublishedRule* rule) { return !rule->applies; });
  return all;
}

ComparedRuns compared(const Case& c, const Trace& got, const FullBatch& full) {
  return comparison_of(c, got, full.plain, full.precise);
}

Answers answers_of_rules(const ComparedRuns& comparison) {
  Answers answers;
  for (const PublishedRule* rule : rules()) {
    const bool asked = !rule->applies || rule->applies(comparison.storage);
    answers += asked ? answer(!rule->accepts(comparison)) : '-';
  }
  return answers;
}

/// Both lenses on one run, and the law with all its runs; `sentence` says what failed.
Answers answers_of_tally(const Case& c, const Trace& got, const Law& law, const RunOptions& subject,
                         std::string& sentence) {
  const auto local = local_lens(c, got), end_to_end = end_to_end_lens(c, got);
  const Outcome outcome = outcome_of(law, c, subject);
  const bool by_local = first_failure(local) != nullptr, by_end_to_end = first_failure(end_to_end) != nullptr;
  const bool by_law = outcome.status == Status::fail || outcome.status == Status::error;
  if (by_law) {
    sentence = law.name + ": " + outcome.message;
  } else if (by_local || by_end_to_end) {
    sentence = first_failure(by_local ? local : end_to_end)->tap + " by a lens";
  }
  return {answer(by_local || by_end_to_end || by_law), answer(by_local), answer(by_end_to_end)};
}

bool differ(const Trace& clean, const Trace& faulty) {
  if (clean.taps().size() != faulty.taps().size() || clean.violations != faulty.violations) return true;
  return !std::equal(clean.taps().begin(), clean.taps().end(), faulty.taps().begin(),
                     [](const Tap& a, const Tap& b) { return a.name == b.name && a.value == b.value; });
}

void run_faulty(Trial& trial, const Fault& fault, const Case& c, const Law& law, const RunOptions& subject,
                const FullBatch& trusted) {
  const RunOptions faulty = with_fault(subject, fault);
  const Trace got = run(c, faulty);
  std::string sentence;
  const Answers tally = answers_of_tally(c, got, law, faulty, sentence);
  const ComparedRuns own = compared(c, got, FullBatch(c, faulty));
  trial.own = tally + answers_of_rules(own);
  trial.first_own = tally + answers_of_rules(first_gradients(own));
  trial.trusted = tally + answers_of_rules(compared(c, got, trusted));
  if (tally.front() == '0') trial.missed = fault.name + " under " + law.name;
}

std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// Fields stand between tabs, so a field has none.
std::string field(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

const std::vector<std::string>& judges() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"Tally, lenses and law", "Tally, local lens alone", "Tally, end-to-end lens alone"};
    for (const PublishedRule* rule : rules()) all.push_back(rule->name);
    return all;
  }();
  return names;
}

bool shows(const Fault& fault, const Case& c, const RunOptions& subject) {
  return differ(run(c, subject), run(c, with_fault(subject, fault)));
}

Trial run_trial(const TrialSetting& setting, const Case& c, const Law& law, const RunOptions& subject) {
  const WithoutSuspects none;
  Trial trial;
  const Trace clean = run(c, subject);
  const FullBatch trusted(c, subject);
  trial.law = law.name;
  trial.gradient = gradient_size(c, trusted.plain);
  const ComparedRuns comparison = compared(c, clean, trusted);
  const Answers tally = answers_of_tally(c, clean, law, subject, trial.alarmed);
  trial.clean = tally + answers_of_rules(comparison);
  trial.first_clean = tally + answers_of_rules(first_gradients(comparison));
  if (!setting.fault) return trial;
  trial.shown = shows(*setting.fault, c, subject);
  if (trial.shown) run_faulty(trial, *setting.fault, c, law, subject, trusted);
  return trial;
}

std::string text_of(const Trial& trial) {
  std::string line = trial.shown ? "1" : "0";
  for (const std::string& part : {shortest(trial.gradient), trial.clean, trial.own, trial.trusted, trial.first_clean,
                                  trial.first_own, trial.law, field(trial.missed), field(trial.alarmed)}) {
    line += "\t" + part;
  }
  return line;
}

Trial trial_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream text(line);
  for (std::string field; std::getline(text, field, '\t');) fields.push_back(field);
  fields.resize(10);
  Trial trial{fields[0] == "1", 0,         fields[2], fields[3], fields[4],
              fields[5],        fields[6], fields[7], fields[8], fields[9]};
  std::from_chars(fields[1].data(), fields[1].data() + fields[1].size(), trial.gradient);
  return trial;
}

}  // namespace tally
