#include "properties/faults/trials/equivalent_task.hpp"

#include <algorithm>
#include <stdexcept>

#include "properties/campaign/law_task.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/faults/equivalent/equivalent.hpp"

namespace tally {
namespace {

/// Through every law it names, in every precision; stops where one flags it.
EquivalentAnswer run_one(const EquivalentMutant& mutant, const CampaignOptions& options) {
  EquivalentAnswer answer{mutant.name, mutant.change, mutant.why, false, 0, ""};
  CampaignOptions with = options;
  with.subject.stages = &mutant.stages();
  with.corpus.clear();
  with.shrink = false;
  for (const std::string& name : mutant.laws) {
    const Law* law = find_law(name);
    if (!law) throw std::logic_error(mutant.name + " names law " + name + ", which does not exist");
    for (const Dtype storage : options.precisions) {
      for (const CaseRecord& c : run_law_task(*law, storage, with).cases) {
        answer.cases += c.status == Status::pass;
        if (c.status != Status::fail && c.status != Status::error) continue;
        answer.message = name + ": " + c.message;
        return answer;
      }
    }
  }
  answer.passes = answer.cases > 0;
  return answer;
}

}  // namespace

std::vector<EquivalentAnswer> run_equivalents(const CampaignOptions& options) {
  const auto mutants = equivalent_mutants();
  const auto texts = run_in_processes(
      mutants.size(), processes_for(options.subject.executor, options.processes),
      [&](std::size_t i) {
        const EquivalentAnswer answer = run_one(*mutants[i], options);
        return std::to_string(answer.passes) + " " + std::to_string(answer.cases) + " " + answer.message;
      },
      [&](std::size_t i) { options.progress("equivalent: " + mutants[i]->name); });
  std::vector<EquivalentAnswer> answers;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    EquivalentAnswer answer{mutants[i]->name, mutants[i]->change, mutants[i]->why, false, 0, texts[i]};
    if (!texts[i].starts_with("crash: ")) {
      const std::size_t end = texts[i].find(' ', 2);
      answer.passes = texts[i][0] == '1';
      answer.cases = std::stoull(texts[i].substr(2, end - 2));
      answer.message = texts[i].substr(end + 1);
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::string text_of(const std::vector<EquivalentAnswer>& answers) {
  std::size_t widest = 0;
  for (const EquivalentAnswer& answer : answers) widest = std::max(widest, answer.name.size());
  std::string text = "\nEquivalent mutants\n";
  for (const EquivalentAnswer& answer : answers) {
    text += answer.passes ? "  ✓ passes   " : "  ✗ FLAGGED  ";
    text += answer.name + std::string(widest - answer.name.size() + 2, ' ');
    text += answer.passes ? answer.change + " (" + std::to_string(answer.cases) + " cases)\n" : answer.message + "\n";
  }
  return text;
}

}  // namespace tally
