#include "properties/campaign/campaign.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>

#include "properties/campaign/law_task.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/digits/training.hpp"
#include "properties/faults/fault.hpp"
#include "properties/triggers/coverage.hpp"
#include "reports/record/totals.hpp"

namespace tally {
namespace {

/// One thing to run: a law in one precision, or a training configuration.
struct Job {
  const Law* law = nullptr;
  Dtype storage = Dtype::fp32;
  std::size_t training = 0;  // index of the exact problem when law is null
};

/// By name against shell patterns with commas between them. Throws for a pattern that no law matches.
std::vector<const Law*> matching_laws(const std::string& globs) {
  std::set<const Law*> named;
  std::istringstream patterns(globs);
  for (std::string pattern; std::getline(patterns, pattern, ',');) {
    const auto matches = [&](const Law* law) { return fnmatch(pattern.c_str(), law->name.c_str(), 0) == 0; };
    const std::size_t before = named.size();
    for (const Law* law : laws())
      if (matches(law)) named.insert(law);
    if (named.size() == before && std::ranges::none_of(named, matches))
      throw std::invalid_argument("no law matches '" + pattern + "'; see `./tally list laws`");
  }
  std::vector<const Law*> found;
  std::ranges::copy_if(laws(), std::back_inserter(found), [&](const Law* law) { return named.contains(law); });
  return found;
}

/// Every n-th job: laws and trainings of all kinds in each shard.
std::vector<Job> in_shard(const std::vector<Job>& jobs, const ShardName& shard) {
  std::vector<Job> mine;
  for (auto i = static_cast<std::size_t>(shard.index - 1); i < jobs.size(); i += static_cast<std::size_t>(shard.count))
    mine.push_back(jobs[i]);
  return mine;
}

std::vector<Job> jobs_of(const CampaignOptions& options) {
  std::vector<Job> jobs;
  if (options.training) {
    for (std::size_t i = 0; i < training_problems().size(); ++i) jobs.push_back({nullptr, Dtype::fp32, i});
  }
  const auto matching = matching_laws(options.law_glob);
  if (matching.empty())
    throw std::invalid_argument("no law matches '" + options.law_glob + "'; see `./tally list laws`");
  for (const Law* law : matching) {
    for (const Dtype storage : options.precisions) jobs.push_back({law, storage, 0});
  }
  return in_shard(jobs, options.shard);
}

std::string title_of(const Job& job) {
  return job.law ? job.law->name + " " + std::string(name_of(job.storage)) : training_problems()[job.training].title;
}

Results run_training_job(const TrainingProblem& problem, const CampaignOptions& options) {
  Results part;
  part.training = run_training(problem, options.precisions, options.subject);
  Coverage coverage(options.subject.executor);
  const bool batch_norm = problem.model.find("BatchNorm") != std::string::npos;
  for (const TrainingRecord& t : part.training) {
    if (batch_norm && t.windows > 0 && t.accuracy_accumulated > 0) coverage.note("evaluated after training");
  }
  part.triggers = coverage.records();
  return part;
}

Results part_of(const Law& law, const TaskResult& found) {
  Results part;
  part.cases = found.cases;
  part.triggers = found.triggers;
  part.certified = found.certified;
  LawRecord record;
  record.name = law.name;
  record.control_differs = found.control_differs;
  part.laws.push_back(record);
  return part;
}

/// `died`: how its process did before, nullptr if it did not.
Results run_job(const Job& job, const CampaignOptions& options, Died died = nullptr) {
  if (!died && options.interrupted && *options.interrupted) return {};
  if (!job.law && died) throw std::runtime_error(died->how);
  if (!job.law) return run_training_job(training_problems()[job.training], options);
  const Abandon abandon = [&](const TaskResult& found) {
    leave_job(to_json(part_of(*job.law, found)),
              title_of(job) + ": " + found.cases.back().message + ": " + found.cases.back().token);
  };
  return part_of(*job.law, run_law_task(*job.law, job.storage, options, abandon, died));
}

/// Shares out what is left of the time among the jobs that are left.
class TimeShare {
 public:
  TimeShare(const CampaignOptions& options, std::size_t jobs) : options_(options), jobs_(jobs) {}
  CampaignOptions of(std::size_t job) const {
    CampaignOptions mine = options_;
    if (!options_.seconds) return mine;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started_;
    mine.seconds = std::max(0.0, *options_.seconds - spent.count()) * options_.processes / double(jobs_ - job);
    return mine;
  }

 private:
  const CampaignOptions& options_;
  std::size_t jobs_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

LawRecord described(const Law& law) {
  LawRecord record;
  record.name = law.name;
  record.family = law.family;
  record.statement = law.statement;
  record.faults = faults_of(law.name);
  record.control = law.control;
  return record;
}

/// A job that threw, or whose process died of no case that is known: recorded as an error of its law, so that it cannot
/// be overlooked.
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
  merge_triggers(results.triggers, part.triggers);
  add(results.certified, part.certified);
  for (const LawRecord& law : part.laws) {
    for (LawRecord& whole : results.laws) {
      if (whole.name == law.name) whole.control_differs = whole.control_differs || law.control_differs;
    }
  }
}

void summarise(Results& results, const CampaignOptions& options) {
  results.partial = options.interrupted && *options.interrupted;
  if (results.partial) results.partial_reason = "interrupted";
  settle_laws(results);
  std::uint64_t checks = 0;
  for (const CaseRecord& c : results.cases) checks += c.checks;
  for (const TrainingRecord& t : results.training) checks += t.checks;
  (options.subject.executor == ExecutorKind::cuda ? results.ran_on_device : results.ran_on_host) = checks;
}

}  // namespace

Results run_campaign(const CampaignOptions& options) {
  const std::vector<Job> jobs = jobs_of(options);
  Results results;
  results.seed = options.seed;
  results.effort = options.effort;
  results.triggers_required = options.triggers_required;
  results.triggers = Coverage(options.subject.executor).records();
  if (options.shard != ShardName{}) results.shard = text_of(options.shard);
  for (const Law* law : matching_laws(options.law_glob)) results.laws.push_back(described(*law));
  std::size_t finished = 0;
  const TimeShare time(options, jobs.size());
  const auto answers = run_in_processes(
      jobs.size(), processes_for(options.subject.executor, options.processes),
      [&](std::size_t i) { return to_json(run_job(jobs[i], time.of(i))); },
      [&](std::size_t i) {
        options.progress("[" + std::to_string(++finished) + "/" + std::to_string(jobs.size()) + "] " +
                         title_of(jobs[i]));
      },
      options.interrupted,
      [&](std::size_t i, const Death& died) { return to_json(run_job(jobs[i], time.of(i), &died)); });
  for (std::size_t i = 0; i < jobs.size(); ++i) merge(results, jobs[i], answers[i]);
  summarise(results, options);
  return results;
}

}  // namespace tally
