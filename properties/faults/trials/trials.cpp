// Faults and equivalent changes through the laws, and how little of a fault is still caught.
#include "properties/faults/trials/trials.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/trace/stage_group.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/faults/fault.hpp"
#include "reports/record/packed.hpp"

namespace tally {
namespace {

/// Some of a fault's cases show more of it than others: Adam's, say, where its bias correction is wrong.
constexpr int cases_for_the_smallest = 8;
/// And some of its cases suit other suspects as well.
constexpr int cases_to_compare = 6;

FaultRecord catalogue_row(const Fault& fault) {
  FaultRecord record;
  record.name = fault.name;
  record.stage = stage_of(fault);
  record.right = fault.right;
  record.wrong = wrong_of(fault);
  record.source = fault.source;
  record.knob = fault.knob;
  record.magnitude = magnitude();
  return record;
}

/// The failing case of a task, nullptr when every case passed.
const CaseRecord* failing(const TaskResult& result) {
  for (const CaseRecord& c : result.cases) {
    if (c.status == Status::fail || c.status == Status::error) return &c;
  }
  return nullptr;
}

/// The stage itself, or stages judged together that hold it.
bool is_found_in(const std::string& found, const std::string& stage) {
  const auto dots = found.find("..");
  return found == stage ||
         (dots != std::string::npos && StageGroup{found.substr(0, dots), found.substr(dots + 2)}.holds(stage));
}

std::vector<const Fault*> chosen(const std::vector<std::string>& names) {
  if (names.empty()) return faults();
  std::vector<const Fault*> found;
  for (const std::string& name : names) {
    const Fault* fault = find_fault(name);
    if (!fault) throw std::invalid_argument("no fault is named '" + name + "'; see `./tally list faults`");
    found.push_back(fault);
  }
  return found;
}

/// Bugs that one case cannot tell apart differ in others: first come those that most of the failing cases list.
void order_by_other_cases(std::vector<Suspicion>& suspects, const Law& law, const std::vector<Case>& cases,
                          const CampaignOptions& seeded) {
  std::set<std::string> compared;
  for (const Suspicion& suspicion : suspects) compared.insert(suspicion.name);
  const OnlySuspects these(compared);
  std::map<std::string, int> listed;
  for (const Case& c : cases) {
    std::set<std::string> names;
    for (const Suspicion& suspicion : outcome_of(law, c, seeded.subject).suspects) names.insert(suspicion.name);
    for (const std::string& name : names) ++listed[name];
  }
  std::stable_sort(suspects.begin(), suspects.end(),
                   [&](const Suspicion& a, const Suspicion& b) { return listed[a.name] > listed[b.name]; });
}

/// Draws them once, and without a diagnosis: what a campaign meets on its way to them needs none.
void add_what_other_cases_say(FaultRecord& record, const Law& law, Dtype storage, const CampaignOptions& seeded) {
  const bool compared = record.suspects.size() > 1;
  const bool measured = seeded.smallest_caught && magnitude() == 1 && record.knob != "none";
  if (!compared && !measured) return;
  std::vector<Case> cases;
  {
    const NoDiagnosis none;
    cases = failing_cases(law, storage, seeded, compared ? cases_to_compare : cases_for_the_smallest);
  }
  if (compared) order_by_other_cases(record.suspects, law, cases, seeded);
  if (!measured) return;
  const NoDiagnosis none;
  cases.resize(std::min<std::size_t>(cases.size(), cases_for_the_smallest));
  record.smallest_caught = smallest_caught(law, cases, seeded.subject);
}

}  // namespace

FaultRecord run_fault(const Fault& fault, const CampaignOptions& options) {
  FaultRecord record = catalogue_row(fault);
  CampaignOptions seeded = options;
  seeded.subject.stages = &fault.stages();
  seeded.corpus.clear();
  seeded.shrink = false;
  for (const std::string& name : fault.laws) {
    const Law* law = find_law(name);
    if (!law) throw std::logic_error("fault " + fault.name + " names law " + name + ", which does not exist");
    for (const Dtype storage : options.precisions) {
      const TaskResult result = run_law_task(*law, storage, seeded);
      const CaseRecord* caught = failing(result);
      if (!caught) continue;
      record.caught = true;
      record.law = law->name;
      record.found_stage = caught->first_stage;
      record.right_stage = is_found_in(record.found_stage, stage_of(fault));
      record.token = caught->token;
      record.message = caught->message;
      record.suspects = caught->suspects;
      add_what_other_cases_say(record, *law, storage, seeded);
      if (!record.suspects.empty()) {
        const Bug* planted = bug_of(fault);
        record.right_suspect = planted != nullptr && planted->name == record.suspects.front().name;
      }
      return record;
    }
  }
  return record;
}

std::vector<FaultRecord> run_faults(const std::vector<std::string>& names, const CampaignOptions& options) {
  const auto list = chosen(names);
  std::size_t finished = 0;
  const auto answers = run_in_processes(
      list.size(), processes_for(options.subject.executor, options.processes),
      [&](std::size_t i) {
        Results part;
        part.faults.push_back(run_fault(*list[i], options));
        return packed(part);
      },
      [&](std::size_t i) {
        options.progress("[" + std::to_string(++finished) + "/" + std::to_string(list.size()) + "] " + list[i]->name);
      });
  std::vector<FaultRecord> records;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (answers[i].starts_with("crash: ")) {
      records.push_back(catalogue_row(*list[i]));
      records.back().message = answers[i];
    } else {
      records.push_back(unpacked(answers[i]).faults.at(0));
    }
  }
  return records;
}

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

namespace {

constexpr int greatest_exponent = 64, stride = 4;

class Search {
 public:
  Search(const Law& law, const std::vector<Case>& failing, const RunOptions& faulty) : law_(law), faulty_(faulty) {
    for (const Case& c : failing) cases_.push_back(&c);
  }

  double smallest() {
    int found = 0, missed = stride;
    while (missed <= greatest_exponent && caught_at(missed)) {
      found = missed;
      missed += stride;
    }
    while (missed - found > 1 && missed <= greatest_exponent) {
      const int middle = (found + missed) / 2;
      (caught_at(middle) ? found : missed) = middle;
    }
    return std::exp2(-found);
  }

 private:
  /// The case that found it is the first to be tried next.
  bool caught_at(int exponent) {
    const AtMagnitude planted(std::exp2(-exponent));
    const auto finder = std::find_if(cases_.begin(), cases_.end(), [&](const Case* c) {
      const Status status = outcome_of(law_, *c, faulty_).status;
      return status == Status::fail || status == Status::error;
    });
    if (finder == cases_.end()) return false;
    std::swap(*finder, cases_.front());
    return true;
  }

  const Law& law_;
  const RunOptions& faulty_;
  std::vector<const Case*> cases_;
};

}  // namespace

std::vector<Case> failing_cases(const Law& law, Dtype storage, const CampaignOptions& options, int draws) {
  std::vector<Case> failing;
  CampaignOptions one = options;
  for (int i = 0; i < draws; ++i, ++one.seed) {
    std::optional<Case> found = run_law_task(law, storage, one).failing;
    if (found) failing.push_back(std::move(*found));
  }
  return failing;
}

double smallest_caught(const Law& law, const std::vector<Case>& failing, const RunOptions& faulty) {
  return Search(law, failing, faulty).smallest();
}

}  // namespace tally
