// A study that can be run, its independent parts spread over processes, and numbers in the sentences of its answer.
#include "properties/lab/study.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "kernels/device/device.hpp"
#include "properties/campaign/workers.hpp"

namespace tally {

std::vector<const StudyRunner*> studies(std::string_view family) {
  std::vector<const StudyRunner*> all = all_records<StudyRunner>();
  std::erase_if(all, [&](const StudyRunner* runner) { return runner->family != family; });
  return all;
}

const StudyRunner* find_study(std::string_view family, std::string_view name) {
  for (const StudyRunner* runner : studies(family))
    if (runner->name == name) return runner;
  return nullptr;
}

Study run_study(const StudyRunner& runner, const StudyOptions& options) {
  Study study = runner.run(options);
  study.family = runner.family;
  study.name = runner.name;
  study.question = runner.question;
  study.seed = options.seed;
  study.effort = options.effort;
  study.partial = options.interrupted != nullptr && options.interrupted->load();
  if (study.partial && study.status == Status::pass) {
    study.status = Status::not_run;
    study.message = "interrupted before everything the study demands was looked at";
  }
  return study;
}

namespace {

/// Bytes as they are: both ends are the same program.
std::string packed(const Numbers& numbers) {
  std::string bytes(numbers.size() * sizeof(double), '\0');
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

Numbers unpacked(const std::string& bytes) {
  Numbers numbers(bytes.size() / sizeof(double));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

std::string answer_of(const std::function<Numbers(std::size_t)>& job, std::size_t i) {
  try {
    return "numbers " + packed(job(i));
  } catch (const DeviceAbsent&) {
    throw;
  } catch (const std::exception& problem) {
    return std::string("crash: ") + problem.what();
  }
}

}  // namespace

std::vector<Numbers> run_jobs(const StudyOptions& options, std::size_t jobs,
                              const std::function<Numbers(std::size_t)>& job,
                              const std::function<std::string(std::size_t)>& title) {
  std::size_t finished = 0;
  const auto answers = run_in_processes(
      jobs, processes_for(options.subject.executor, options.processes),
      [&](std::size_t i) {
        const bool stop = options.interrupted != nullptr && options.interrupted->load();
        return stop ? std::string() : answer_of(job, i);
      },
      [&](std::size_t i) {
        options.progress("[" + std::to_string(++finished) + "/" + std::to_string(jobs) + "] " + title(i));
      });
  std::vector<Numbers> found(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    if (answers[i].starts_with("crash: ")) throw std::runtime_error(title(i) + ": " + answers[i]);
    if (!answers[i].empty()) found[i] = unpacked(answers[i].substr(std::strlen("numbers ")));
  }
  return found;
}

std::size_t scaled(const StudyOptions& options, double at_effort_one, std::size_t least) {
  return std::max(least, static_cast<std::size_t>(std::lround(at_effort_one * options.effort)));
}

namespace {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[128];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace

std::string three_digits(double value) { return formatted("%.3g", value); }

std::string exponent_text(const Fit& fit) { return exponent_text(Mean{fit.slope, fit.interval}); }

std::string exponent_text(const Mean& mean) {
  if (std::isnan(mean.value)) return "(too few points)";
  return formatted("%.2f (95 %%: %.2f to %.2f)", mean.value, mean.interval.low, mean.interval.high);
}

std::string power_of_two_text(double value) {
  int exponent = 0;
  const bool power = std::isfinite(value) && value > 0 && std::frexp(value, &exponent) == 0.5;
  return power ? "2^" + std::to_string(exponent - 1) : three_digits(value);
}

}  // namespace tally
