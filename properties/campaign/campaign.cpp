#include "properties/campaign/campaign.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <stdexcept>

#include "properties/campaign/law_task.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/digits/training.hpp"

namespace tally {
namespace {

/// One thing to run: a law in one precision, or a training configuration.
struct Job {
  const Law* law = nullptr;
  Dtype storage = Dtype::fp32;
  std::size_t training = 0;  // index of the exact problem when law is null
};

std::vector<const Law*> matching_laws(const std::string& glob) {
  std::vector<const Law*> found;
  for (const Law* law : laws()) {
    if (fnmatch(glob.c_str(), law->name.c_str(), 0) == 0) found.push_back(law);
  }
  return found;
}

std::vector<Job> jobs_of(const CampaignOptions& options) {
  std::vector<Job> jobs;
  if (options.training) {
    for (std::size_t i = 0; i < training_problems().size(); ++i) jobs.push_back({nullptr, Dtype::fp32, i});
  }
  const auto matching = matching_laws(options.law_glob);
  if (matching.empty()) throw std::invalid_argument("no law matches '" + options.law_glob + "'; see `tally list laws`");
  for (const Law* law : matching) {
    for (const Dtype storage : options.precisions) jobs.push_back({law, storage, 0});
  }
  return jobs;
}

std::string title_of(const Job& job) {
  return job.law ? job.law->name + " " + std::string(name_of(job.storage)) : training_problems()[job.training].title;
}

Results run_job(const Job& job, const CampaignOptions& options) {
  Results part;
  if (options.interrupted && *options.interrupted) return part;
  if (!job.law) {
    part.training = run_training(training_problems()[job.training], options.precisions, options.subject);
    return part;
  }
  TaskResult found = run_law_task(*job.law, job.storage, options);
  part.cases = std::move(found.cases);
  LawRecord law;
  law.name = job.law->name;
  law.control_differs = found.control_differs;
  part.laws.push_back(law);
  return part;
}

LawRecord described(const Law& law) {
  LawRecord record;
  record.name = law.name;
  record.family = law.family;
  record.statement = law.statement;
  record.faults = law.faults;
  record.control = law.control;
  return record;
}

void count(LawRecord& law, const CaseRecord& c) {
  ++law.cases;
  law.checks += c.checks;
  law.failed += c.status == Status::fail || c.status == Status::error;
  law.vacuous += c.status == Status::vacuous;
  law.not_run += c.status == Status::not_run;
  law.worst_ratio = std::max({law.worst_ratio, c.worst_local_ratio, c.worst_end_to_end_ratio});
}

void settle(LawRecord& law) {
  if (law.cases == 0 || law.not_run == law.cases) {
    law.status = Status::not_run;
  } else if (law.failed > 0) {
    law.status = Status::fail;
  } else if (law.vacuous + law.not_run == law.cases) {
    law.status = Status::vacuous;
  } else if (!law.control_differs) {
    law.status = Status::fail;
    law.message = "the control never differed: this law could not have failed";
  } else {
    law.status = Status::pass;
  }
}

/// A job whose process died or threw: recorded as an error of its law, so that it cannot be overlooked.
CaseRecord crashed(const Job& job, const std::string& answer) {
  CaseRecord record;
  record.law = job.law ? job.law->name : "training";
  record.precision = name_of(job.storage);
  record.id = title_of(job);
  record.title = title_of(job);
  record.status = Status::error;
  record.message = answer;
  return record;
}

void merge(Results& results, const Job& job, const std::string& answer) {
  if (answer.starts_with("crash: ")) {
    results.cases.push_back(crashed(job, answer));
    return;
  }
  Results part = results_of_json(answer);
  for (auto& c : part.cases) results.cases.push_back(std::move(c));
  for (auto& t : part.training) results.training.push_back(std::move(t));
  for (const LawRecord& law : part.laws) {
    for (LawRecord& whole : results.laws) {
      if (whole.name == law.name) whole.control_differs = whole.control_differs || law.control_differs;
    }
  }
}

void summarise(Results& results, const CampaignOptions& options) {
  std::stable_sort(results.cases.begin(), results.cases.end(), [](const CaseRecord& a, const CaseRecord& b) {
    return std::tie(a.law, a.precision) < std::tie(b.law, b.precision);
  });
  std::uint64_t checks = 0;
  for (LawRecord& law : results.laws) {
    for (const CaseRecord& c : results.cases) {
      if (c.law == law.name) count(law, c);
    }
    settle(law);
  }
  for (const CaseRecord& c : results.cases) checks += c.checks;
  for (const TrainingRecord& t : results.training) checks += t.checks;
  (options.subject.executor == ExecutorKind::cuda ? results.ran_on_device : results.ran_on_host) = checks;
  results.partial = options.interrupted && *options.interrupted;
  if (results.partial) results.partial_reason = "interrupted";
}

}  // namespace

Results run_campaign(const CampaignOptions& options) {
  const std::vector<Job> jobs = jobs_of(options);
  Results results;
  results.seed = options.seed;
  results.effort = options.effort;
  for (const Law* law : matching_laws(options.law_glob)) results.laws.push_back(described(*law));
  std::size_t finished = 0;
  const auto answers = run_in_processes(
      jobs.size(), options.subject.executor == ExecutorKind::host ? options.processes : 1,
      [&](std::size_t i) { return to_json(run_job(jobs[i], options)); },
      [&](std::size_t i) {
        options.progress("[" + std::to_string(++finished) + "/" + std::to_string(jobs.size()) + "] " +
                         title_of(jobs[i]));
      });
  for (std::size_t i = 0; i < jobs.size(); ++i) merge(results, jobs[i], answers[i]);
  summarise(results, options);
  return results;
}

}  // namespace tally
