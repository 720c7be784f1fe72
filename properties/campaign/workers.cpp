#include "properties/campaign/workers.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace tally {
namespace {

constexpr int look_again = 200;  // milliseconds between two looks at the flag

}  // namespace

std::vector<std::string> run_in_processes(std::size_t jobs, int processes,
                                          const std::function<std::string(std::size_t)>& job,
                                          const std::function<void(std::size_t)>& done,
                                          const std::atomic<bool>* interrupted,
                                          const std::function<std::string(std::size_t, const Death&)>& again) {
  std::vector<std::string> answers(jobs);
  const auto is_over = [interrupted] { return interrupted != nullptr && *interrupted; };
  if (processes == in_this_process) {
    for (std::size_t i = 0; i < jobs && !is_over(); done(i++)) answers[i] = job(i);
    return answers;
  }
  WorkerPool pool(job, again);
  bool told = interrupted == nullptr;
  for (std::size_t next = 0; (next < jobs && !is_over()) || pool.running() > 0;) {
    if (!told && is_over()) {
      pool.tell(SIGTERM);
      told = true;
    }
    for (; next < jobs && !is_over() && pool.running() < static_cast<std::size_t>(processes); ++next) pool.start(next);
    std::vector<pollfd> pipes = pool.pipes();
    if (poll(pipes.data(), pipes.size(), told ? -1 : look_again) < 0 && errno != EINTR)
      throw std::runtime_error(std::strerror(errno));
    for (auto& [number, answer] : pool.take(pipes)) {
      answers[number] = std::move(answer);
      done(number);
    }
  }
  return answers;
}

}  // namespace tally
