#include "properties/campaign/workers.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace tally {
namespace {

using Job = std::function<std::string()>;

struct Worker {
  pid_t pid;
  int pipe;
  std::size_t job;
  std::string answer;
  std::atomic<std::uint64_t>* step;  // in memory shared with the process, which may die at any time
};

constexpr int look_again = 200;    // milliseconds between two looks at the flag
constexpr char end_mark = '\x04';  // after a whole answer: a process that leaves on its own way has sent none

int answer_pipe = -1;                                // in a forked job: where its answer goes
std::atomic<std::uint64_t>* current_step = nullptr;  // and its step

void write_all(int pipe, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(pipe, text.data() + sent, text.size() - sent);
    if (n <= 0) _exit(3);
    sent += static_cast<std::size_t>(n);
  }
}

/// Whatever calls exit() in here must neither run the destructors of the whole program nor write what it has buffered.
void leave_quietly(int status, void*) { _exit(status); }

[[noreturn]] void work(const Job& job, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(3);
  on_exit(leave_quietly, nullptr);
  std::string answer;
  try {
    answer = job();
  } catch (const std::exception& problem) {
    answer = std::string("crash: ") + problem.what();
  }
  write_all(answer_pipe, answer + end_mark);
  _exit(0);
}

std::atomic<std::uint64_t>* shared_step() {
  void* const memory =
      mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error(std::string("no shared memory: ") + std::strerror(errno));
  return new (memory) std::atomic<std::uint64_t>(0);
}

Worker start(std::size_t index, const Job& job) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
  std::atomic<std::uint64_t>* const step = shared_step();
  const pid_t parent = getpid(), pid = fork();
  if (pid < 0) throw std::runtime_error(std::string("no process: ") + std::strerror(errno));
  if (pid == 0) {
    close(ends[0]);
    answer_pipe = ends[1];
    current_step = step;
    work(job, parent);
  }
  close(ends[1]);
  return {pid, ends[0], index, {}, step};
}

/// Reads what there is; true at the end of the stream.
bool drain(Worker& worker) {
  char bytes[1 << 16];
  const ssize_t n = read(worker.pipe, bytes, sizeof bytes);
  if (n > 0) worker.answer.append(bytes, static_cast<std::size_t>(n));
  return n == 0 || (n < 0 && errno != EINTR);
}

bool is_sent_by_others(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

std::string way_of(int status) {
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  return "an exit with code " + std::to_string(WEXITSTATUS(status));
}

/// Takes the process away; how it died unless its answer is whole.
std::optional<Death> finish(Worker& worker) {
  close(worker.pipe);
  int status = 0;
  while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::uint64_t step = *worker.step;
  munmap(worker.step, sizeof *worker.step);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && worker.answer.ends_with(end_mark)) {
    worker.answer.pop_back();
    return std::nullopt;
  }
  return Death{way_of(status), WIFSIGNALED(status) && is_sent_by_others(WTERMSIG(status)), step};
}

}  // namespace

void leave_job(const std::string& answer, const std::string& message) {
  if (answer_pipe < 0) {
    write_all(STDERR_FILENO, "error: " + message + "\n");
    _exit(3);
  }
  write_all(answer_pipe, answer + end_mark);
  _exit(0);
}

void begin_step(std::uint64_t step) {
  if (current_step) *current_step = step;
}

std::vector<std::string> run_in_processes(std::size_t jobs, int processes,
                                          const std::function<std::string(std::size_t)>& job,
                                          const std::function<void(std::size_t)>& done,
                                          const std::atomic<bool>* interrupted,
                                          const std::function<std::string(std::size_t, const Death&)>& again) {
  std::vector<std::string> answers(jobs);
  if (processes == in_this_process) {
    for (std::size_t i = 0; i < jobs; done(i++)) answers[i] = job(i);
    return answers;
  }
  std::vector<Worker> running;
  std::vector<Rescue> rescues(jobs);
  bool told = interrupted == nullptr;
  for (std::size_t next = 0; next < jobs || !running.empty();) {
    if (!told && *interrupted) {
      for (const Worker& worker : running) kill(worker.pid, SIGTERM);
      told = true;
    }
    for (; next < jobs && running.size() < static_cast<std::size_t>(processes); ++next)
      running.push_back(start(next, [&job, next] { return job(next); }));
    std::vector<pollfd> pipes;
    for (const Worker& worker : running) pipes.push_back({worker.pipe, POLLIN, 0});
    if (poll(pipes.data(), pipes.size(), told ? -1 : look_again) < 0 && errno != EINTR)
      throw std::runtime_error(std::strerror(errno));
    for (std::size_t i = pipes.size(); i-- > 0;) {
      if (pipes[i].revents == 0 || !drain(running[i])) continue;
      const std::size_t mine = running[i].job;
      const auto death = finish(running[i]);
      const auto retry = death ? rescues[mine].died(*death) : rescues[mine].answered(std::move(running[i].answer));
      if (retry && again) {
        running[i] = start(mine, [&again, mine, &retry] { return again(mine, *retry); });
        continue;
      }
      answers[mine] = rescues[mine].result();
      done(mine);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return answers;
}

}  // namespace tally
