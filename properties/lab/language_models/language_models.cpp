// `tally bench language_models`: how near clean runs of the layers of language models come to their bounds, kernel by
// kernel, and whether a claim that says less than its kernel does leaves them.
#include <algorithm>

#include "oracle/case/io.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/lab/language_models/family.hpp"
#include "properties/lab/study.hpp"

namespace tally::language_models_study {
namespace {

constexpr double cases_at_effort_one = 30;  // of each way and format
constexpr std::size_t cases_a_job = 4;

struct Job {
  const LayerFamily* family;
  const Way* way;
  Dtype storage;
  std::size_t first, end;
};

std::vector<Job> jobs_of(const StudyOptions& options) {
  const std::size_t cases = scaled(options, cases_at_effort_one, 1);
  std::vector<Job> jobs;
  for (const LayerFamily& family : layer_families())
    for (const Way& way : family.ways)
      for (const Dtype storage : storage_formats())
        for (std::size_t first = 0; first < cases; first += cases_a_job)
          jobs.push_back({&family, &way, storage, first, std::min(first + cases_a_job, cases)});
  return jobs;
}

std::string title_of(const Job& job) {
  std::string kernels = job.way->fault;
  for (const auto& [operation, variant] : job.way->kernels) kernels += (kernels.empty() ? "" : " ") + variant;
  return job.family->name + (kernels.empty() ? "" : ", " + kernels) + ", " + std::string(name_of(job.storage));
}

std::string answer_of(const Job& job, const StudyOptions& options) {
  Strata strata;
  for (std::size_t number = job.first; number < job.end; ++number) {
    if (options.interrupted != nullptr && *options.interrupted) break;
    strata.merge(held_run(*job.family, *job.way, job.storage, number, options));
  }
  return text_of(strata);
}

struct Found {
  Strata strata;
  std::string problem;  // the first
};

Found found_by(const StudyOptions& options) {
  const std::vector<Job> jobs = jobs_of(options);
  std::size_t finished = 0;
  const auto answers = run_in_processes(
      jobs.size(), processes_for(options.subject.executor, options.processes),
      [&](std::size_t i) { return answer_of(jobs[i], options); },
      [&](std::size_t i) {
        options.progress("[" + std::to_string(++finished) + "/" + std::to_string(jobs.size()) + "] " +
                         title_of(jobs[i]));
      });
  Found found;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!answers[i].starts_with("crash: "))
      found.strata.merge(strata_of_text(answers[i]));
    else if (found.problem.empty())
      found.problem = title_of(jobs[i]) + ": " + answers[i];
  }
  return found;
}

Study run(const StudyOptions& options) {
  const Found found = found_by(options);
  const Stratum clean = found.strata.sum({"clean"}), alarms = found.strata.sum({"alarm"});
  Study study;
  study.device = name_of(options.subject.executor);
  study.tables = language_model_tables(found.strata);
  study.answer = language_model_answer(found.strata);
  study.notes = language_model_notes(found.strata);
  study.status = clean.judged > 0 ? Status::pass : Status::vacuous;
  if (clean.judged == 0) study.message = "nothing was compared";
  if (alarms.alarms > 0) study.message = "checks of clean runs fail; the table of alarms names them";
  if (!found.problem.empty()) study.message = "first problem: " + found.problem;
  if (clean.alarms > 0 || alarms.alarms > 0 || !found.problem.empty()) study.status = Status::fail;
  return study;
}

const Register<StudyRunner> registered{{
    .family = "bench",
    .name = "language_models",
    .question = "How near do clean runs of the layers of language models come to their bounds, and does a claim that "
                "leaves out what its kernel does leave them?",
    .run = run,
}};

}  // namespace
}  // namespace tally::language_models_study
