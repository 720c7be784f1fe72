#include "properties/lab/evidence/gather.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "kernels/device/device.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/lab/evidence/adversarial.hpp"
#include "properties/lab/evidence/case_strata.hpp"
#include "properties/lab/evidence/cases.hpp"

namespace tally {
namespace {

constexpr std::uint64_t cases_a_job = 50, networks_a_job = 5;

struct Job {
  std::string title;
  std::function<void(GatheredEvidence& found)> gather;
};

/// What goes wrong in one case does not end the others.
void guarded(GatheredEvidence& found, const std::string& what, const std::function<void()>& gather) {
  try {
    gather();
  } catch (const DeviceAbsent&) {
    throw;
  } catch (const std::exception& problem) {
    found.problems.push_back(what + ": " + problem.what());
  }
}

Job clean_job(std::uint64_t first, std::uint64_t end, const StudyOptions& options) {
  return {"clean cases " + std::to_string(first) + " to " + std::to_string(end - 1),
          [=, &options](GatheredEvidence& found) {
            for (std::uint64_t i = first; i < end; ++i) {
              if (options.interrupted != nullptr && *options.interrupted) return;
              guarded(found, "clean case " + std::to_string(i), [&] {
                const CleanCase made = clean_case(options.seed, i, options.subject);
                found.strata.merge(strata_of(made.c, made.run, evidence_run(made.c, made.run), i));
              });
            }
          }};
}

Job ordinary_job(std::uint64_t first, std::uint64_t end, const StudyOptions& options) {
  return {"ordinary networks " + std::to_string(first) + " to " + std::to_string(end - 1),
          [=, &options](GatheredEvidence& found) {
            for (std::uint64_t i = first; i < end; ++i) {
              if (options.interrupted != nullptr && *options.interrupted) return;
              guarded(found, "ordinary network " + std::to_string(i), [&] {
                const OrdinaryCase made = ordinary_case(options.seed, i);
                found.strata.merge(ordinary_strata_of(made, evidence_run(made.c, {options.subject, {}}), i));
              });
            }
          }};
}

/// As a campaign draws them for the law: shapes, values and ways to execute that clean cases do not meet.
Job law_job(const Law& law, Dtype storage, int cases, const StudyOptions& options) {
  const std::string title = law.name + ", " + std::string(name_of(storage));
  return {title, [=, &law, &options](GatheredEvidence& found) {
            PlanSource source(storage, seed_of(options.seed, law, storage), cases);
            for (int i = 0; i < cases; ++i) {
              if (options.interrupted != nullptr && *options.interrupted) return;
              guarded(found, title + ", case " + std::to_string(i), [&] {
                const Case c = case_of(shaped(source.next(), law));
                try {
                  count_excess(found.strata, c, evidence_run(c, {options.subject, {}}));
                } catch (const NotSupported&) {
                  // This executor does not run such cases: no tensor to count.
                }
              });
            }
          }};
}

Job hard_job(const HardFamily& family, Dtype storage, int cases, const StudyOptions& options) {
  const std::string title = family.name + ", " + std::string(name_of(storage));
  return {title, [=, &family, &options](GatheredEvidence& found) {
            for (int i = 0; i < cases; ++i) {
              if (options.interrupted != nullptr && *options.interrupted) return;
              guarded(found, title + ", case " + std::to_string(i), [&] {
                const auto number = static_cast<std::uint64_t>(i);
                const Case c = family.make(storage, options.seed + number);
                const DrawnRun run = clean_case(options.seed, number, options.subject).run;
                found.strata.merge(hard_strata_of(family.name, c, evidence_run(c, run), number));
              });
            }
          }};
}

/// Every second climb starts from a hard case, the others from a clean one that the campaign does not see.
CleanCase start_of(std::uint64_t k, std::size_t storage, const StudyOptions& options) {
  const std::vector<Dtype>& storages = storage_formats();
  const std::uint64_t number = storages.size() * ((1u << 20) + k) + storage;
  CleanCase start = clean_case(options.seed, number, options.subject);
  const std::size_t family = (k / 2 * storages.size() + storage) % (hard_families().size() - 2);  // not the longest
  if (k % 2 == 1) start.c = hard_families()[family].make(storages[storage], options.seed + k);
  return start;
}

Job climb_job(std::uint64_t k, std::size_t storage, int steps, const StudyOptions& options) {
  const std::string title = "climb " + std::to_string(k) + ", " + std::string(name_of(storage_formats()[storage]));
  return {title, [=, &options](GatheredEvidence& found) {
            if (options.interrupted != nullptr && *options.interrupted) return;
            guarded(found, title, [&] {
              found.climbs =
                  climb(start_of(k, storage, options), steps, options.seed + storage_formats().size() * k + storage);
            });
          }};
}

std::vector<Job> jobs_of(const EvidencePlan& plan, const StudyOptions& options) {
  std::vector<Job> jobs;
  for (int k = 0; k < plan.climbs; ++k) {
    for (std::size_t s = 0; s < storage_formats().size(); ++s) {
      jobs.push_back(climb_job(static_cast<std::uint64_t>(k), s, plan.steps, options));
    }
  }
  for (const HardFamily& family : hard_families()) {
    for (const Dtype storage : storage_formats())
      jobs.push_back(hard_job(family, storage, plan.hard_cases * family.weight, options));
  }
  for (const Law* law : laws()) {
    const int cases = plan.law_effort > 0 ? cases_drawn(*law, plan.law_effort) : 0;
    for (const Dtype storage : storage_formats())
      if (cases > 0) jobs.push_back(law_job(*law, storage, cases, options));
  }
  for (std::uint64_t first = 0; first < plan.ordinary_networks; first += networks_a_job) {
    jobs.push_back(ordinary_job(first, std::min(first + networks_a_job, plan.ordinary_networks), options));
  }
  for (std::uint64_t first = 0; first < plan.clean_cases; first += cases_a_job) {
    jobs.push_back(clean_job(first, std::min(first + cases_a_job, plan.clean_cases), options));
  }
  return jobs;
}

/// Three parts, each ended by a form feed: strata, climbs, problems line by line.
std::string text_of(const GatheredEvidence& evidence) {
  std::string text = text_of(evidence.strata) + '\f' + text_of(evidence.climbs) + '\f';
  for (std::string problem : evidence.problems) {
    std::replace(problem.begin(), problem.end(), '\n', ' ');
    text += problem + '\n';
  }
  return text;
}

GatheredEvidence evidence_of_text(const std::string& text) {
  const auto first = text.find('\f'), second = text.find('\f', first + 1);
  if (second == std::string::npos) throw std::runtime_error("a job's answer is cut short");
  GatheredEvidence evidence{
      strata_of_text(text.substr(0, first)), climbs_of_text(text.substr(first + 1, second - first - 1)), {}};
  for (auto at = second + 1, end = at; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    evidence.problems.push_back(text.substr(at, end - at));
  }
  return evidence;
}

}  // namespace

EvidencePlan EvidencePlan::of(double effort) {
  const EvidencePlan one;
  const auto scaled = [&](double count) { return std::max(1.0, std::round(count * effort)); };
  EvidencePlan plan;
  plan.clean_cases = static_cast<std::uint64_t>(scaled(static_cast<double>(one.clean_cases)));
  plan.ordinary_networks = static_cast<std::uint64_t>(scaled(static_cast<double>(one.ordinary_networks)));
  plan.hard_cases = static_cast<int>(scaled(one.hard_cases));
  plan.climbs = static_cast<int>(std::max(1.0, std::round(one.climbs * std::sqrt(effort))));
  return plan;
}

void GatheredEvidence::merge(const GatheredEvidence& other) {
  strata.merge(other.strata);
  tally::merge(climbs, other.climbs);
  problems.insert(problems.end(), other.problems.begin(), other.problems.end());
}

GatheredEvidence gather_evidence(const EvidencePlan& plan, const StudyOptions& options) {
  const std::vector<Job> jobs = jobs_of(plan, options);
  const auto gather = [&](std::size_t i) {
    GatheredEvidence found;
    jobs[i].gather(found);
    return text_of(found);
  };
  std::size_t finished = 0;
  const auto done = [&](std::size_t i) {
    options.progress("[" + std::to_string(++finished) + "/" + std::to_string(jobs.size()) + "] " + jobs[i].title);
  };
  const int processes = processes_for(options.subject.executor, options.processes);
  const auto answers = run_in_processes(jobs.size(), processes, gather, done);
  GatheredEvidence whole;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (answers[i].starts_with("crash: ")) {
      whole.problems.push_back(jobs[i].title + ": " + answers[i]);
    } else {
      whole.merge(evidence_of_text(answers[i]));
    }
  }
  return whole;
}

}  // namespace tally
