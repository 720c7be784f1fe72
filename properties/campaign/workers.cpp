// Numbered jobs in forked processes, rescued where one dies, with a limit of time.
#include "properties/campaign/workers.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "kernels/trace/last_place.hpp"

namespace tally {

std::optional<Death> Rescue::died(const Death& death) {
  const auto after = static_cast<std::int64_t>(death.step) + 1;
  if (!first_) {
    first_ = death;
    dies_ = after;
    tried_ = dies_ - 1;
  } else {
    dies_ = std::min({dies_, after, tried_});
    tried_ = answers_ + (dies_ - answers_) / 2;
  }
  return next();
}

std::optional<Death> Rescue::answered(std::string answer) {
  best_ = std::move(answer);
  if (!first_) return std::nullopt;
  answers_ = tried_;
  tried_ = answers_ + (dies_ - answers_) / 2;
  return next();
}

std::optional<Death> Rescue::next() const {
  if (tried_ <= answers_ || tried_ >= dies_) return std::nullopt;
  return Death{first_->how, first_->from_outside, static_cast<std::uint64_t>(tried_)};
}

std::string Rescue::result() const { return best_ ? *best_ : first_ ? "crash: " + first_->how : ""; }

namespace {

constexpr char end_mark = '\x04';  // after a whole answer: a process that leaves on its own way has sent none

/// What a process leaves behind that may die at any time.
struct Notes {
  std::atomic<std::uint64_t> step{0};
  LastPlace place{};
};

int answer_pipe = -1;        // in a forked job: where its answer goes
Notes* own_notes = nullptr;  // and what is known of it

void write_all(int pipe, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(pipe, text.data() + sent, text.size() - sent);
    if (n <= 0) _exit(3);
    sent += static_cast<std::size_t>(n);
  }
}

/// Whatever calls exit() in here must neither run the destructors of the whole program nor write what it has buffered.
void leave_quietly(int status, void*) { _exit(status); }

[[noreturn]] void work(const std::function<std::string()>& job, pid_t parent) {
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

Notes* shared_notes() {
  void* const memory = mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error(std::string("no shared memory: ") + std::strerror(errno));
  return new (memory) Notes;
}

bool is_sent_by_others(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

std::string way_of(int status) {
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  return "an exit with code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

struct WorkerPool::Worker {
  pid_t pid;
  int pipe;
  std::size_t job;
  Notes* notes;  // in memory shared with the process
  Rescue rescue{};
  std::string answer{};

  /// Reads what there is; true at the end of the stream.
  bool drain() {
    char bytes[1 << 16];
    const ssize_t n = read(pipe, bytes, sizeof bytes);
    if (n > 0) answer.append(bytes, static_cast<std::size_t>(n));
    return n == 0 || (n < 0 && errno != EINTR);
  }

  /// Takes the process away; how it died unless its answer is whole.
  std::optional<Death> finish() {
    close(pipe);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    const std::uint64_t last = notes->step;
    const LastPlace place = notes->place;
    munmap(notes, sizeof *notes);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && answer.ends_with(end_mark)) {
      answer.pop_back();
      return std::nullopt;
    }
    return Death{way_of(status) + text_of(place), WIFSIGNALED(status) && is_sent_by_others(WTERMSIG(status)), last};
  }
};

WorkerPool::WorkerPool(Job job, Again again) : job_(std::move(job)), again_(std::move(again)) {}

WorkerPool::~WorkerPool() {
  tell(SIGKILL);
  for (Worker& worker : workers_) worker.finish();
}

WorkerPool::Worker WorkerPool::forked(std::size_t number, const std::function<std::string()>& job) const {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
  Notes* const notes = shared_notes();
  const pid_t parent = getpid(), pid = fork();
  if (pid < 0) throw std::runtime_error(std::string("no process: ") + std::strerror(errno));
  if (pid == 0) {
    close(ends[0]);
    answer_pipe = ends[1];
    own_notes = notes;
    note_places_in(&notes->place);
    work(job, parent);
  }
  close(ends[1]);
  return {pid, ends[0], number, notes};
}

void WorkerPool::start(std::size_t number) {
  workers_.push_back(forked(number, [this, number] { return job_(number); }));
}

std::size_t WorkerPool::running() const { return workers_.size(); }

void WorkerPool::tell(int signal) const {
  for (const Worker& worker : workers_) kill(worker.pid, signal);
}

std::vector<pollfd> WorkerPool::pipes() const {
  std::vector<pollfd> pipes;
  for (const Worker& worker : workers_) pipes.push_back({worker.pipe, POLLIN, 0});
  return pipes;
}

std::vector<WorkerPool::Answer> WorkerPool::take(std::span<const pollfd> polled) {
  std::vector<Answer> answers;
  for (std::size_t i = polled.size(); i-- > 0;) {
    Worker& worker = workers_[i];
    if (polled[i].revents == 0 || !worker.drain()) continue;
    const auto death = worker.finish();
    const auto retry = death ? worker.rescue.died(*death) : worker.rescue.answered(std::move(worker.answer));
    if (retry && again_) {
      Rescue rescue = std::move(worker.rescue);
      worker = forked(worker.job, [this, number = worker.job, &retry] { return again_(number, *retry); });
      worker.rescue = std::move(rescue);
      continue;
    }
    answers.emplace_back(worker.job, worker.rescue.result());
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return answers;
}

void leave_job(const std::string& answer, const std::string& message) {
  if (answer_pipe < 0) {
    write_all(STDERR_FILENO, "error: " + message + "\n");
    _exit(3);
  }
  write_all(answer_pipe, answer + end_mark);
  _exit(0);
}

void begin_step(std::uint64_t step) {
  if (own_notes) own_notes->step = step;
}

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

Watchdog::Watchdog(double seconds, std::function<void()> bark)
    : limit_(seconds), bark_(std::move(bark)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::start(double factor) {
  {
    const std::lock_guard lock(mutex_);
    deadline_ =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(factor * limit_);
  }
  changed_.notify_one();
}

void Watchdog::stop() {
  const std::lock_guard lock(mutex_);
  deadline_.reset();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    if (!deadline_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < *deadline_) {
      changed_.wait_until(lock, *deadline_);
    } else {
      deadline_.reset();
      lock.unlock();
      bark_();
      lock.lock();
    }
  }
}

}  // namespace tally
