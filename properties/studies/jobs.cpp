#include "properties/studies/jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "kernels/device/device.hpp"
#include "properties/campaign/workers.hpp"

namespace tally {
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

}  // namespace tally
