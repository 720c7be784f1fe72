#include "properties/campaign/workers.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace tally {
namespace {

struct Worker {
  pid_t pid;
  int pipe;
  std::size_t job;
  std::string answer;
};

constexpr int look_again = 200;  // milliseconds between two looks at the flag

int answer_pipe = -1;  // in a forked job: where its answer goes

void write_all(int pipe, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(pipe, text.data() + sent, text.size() - sent);
    if (n <= 0) _exit(3);
    sent += static_cast<std::size_t>(n);
  }
}

Worker start(std::size_t index, const std::function<std::string(std::size_t)>& job) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error(std::string("no process: ") + std::strerror(errno));
  if (pid == 0) {
    close(ends[0]);
    answer_pipe = ends[1];
    std::string answer;
    try {
      answer = job(index);
    } catch (const std::exception& problem) {
      answer = std::string("crash: ") + problem.what();
    }
    write_all(ends[1], answer);
    _exit(0);
  }
  close(ends[1]);
  return {pid, ends[0], index, {}};
}

/// Reads what there is; true at the end of the stream.
bool drain(Worker& worker) {
  char bytes[1 << 16];
  const ssize_t n = read(worker.pipe, bytes, sizeof bytes);
  if (n > 0) worker.answer.append(bytes, static_cast<std::size_t>(n));
  return n == 0 || (n < 0 && errno != EINTR);
}

void finish(Worker& worker) {
  close(worker.pipe);
  int status = 0;
  while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) worker.answer = std::string("crash: ") + strsignal(WTERMSIG(status));
}

}  // namespace

void leave_job(const std::string& answer, const std::string& message) {
  if (answer_pipe < 0) {
    write_all(STDERR_FILENO, "error: " + message + "\n");
    _exit(3);
  }
  write_all(answer_pipe, answer);
  _exit(0);
}

std::vector<std::string> run_in_processes(std::size_t jobs, int processes,
                                          const std::function<std::string(std::size_t)>& job,
                                          const std::function<void(std::size_t)>& done,
                                          const std::atomic<bool>* interrupted) {
  std::vector<std::string> answers(jobs);
  if (processes <= 1) {
    for (std::size_t i = 0; i < jobs; done(i++)) answers[i] = job(i);
    return answers;
  }
  std::vector<Worker> running;
  bool told = interrupted == nullptr;
  for (std::size_t next = 0; next < jobs || !running.empty();) {
    if (!told && *interrupted) {
      for (const Worker& worker : running) kill(worker.pid, SIGTERM);
      told = true;
    }
    while (next < jobs && running.size() < static_cast<std::size_t>(processes)) running.push_back(start(next++, job));
    std::vector<pollfd> pipes;
    for (const Worker& worker : running) pipes.push_back({worker.pipe, POLLIN, 0});
    if (poll(pipes.data(), pipes.size(), told ? -1 : look_again) < 0 && errno != EINTR)
      throw std::runtime_error(std::strerror(errno));
    for (std::size_t i = pipes.size(); i-- > 0;) {
      if (pipes[i].revents == 0 || !drain(running[i])) continue;
      finish(running[i]);
      answers[running[i].job] = std::move(running[i].answer);
      done(running[i].job);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return answers;
}

}  // namespace tally
