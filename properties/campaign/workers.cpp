// Numbered jobs in forked processes, rescued where one dies, with a limit of time.
#include "properties/campaign/workers.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

#include "kernels/subjects/process/child_process.hpp"
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

/// What a process leaves behind that may die at any time.
struct WorkerNotes {
  std::atomic<std::uint64_t> step{0};
  LastPlace place{};
  struct Unmapped {
    void operator()(WorkerNotes* notes) const { munmap(notes, sizeof *notes); }
  };
};

namespace {

constexpr char end_mark = '\x04';  // after a whole answer: a process that leaves on its own way has sent none

int answer_pipe = -1;              // in a forked job: where its answer goes
WorkerNotes* own_notes = nullptr;  // and what is known of it

/// The exit code.
int send_answer(const std::string& answer) { return write_all(answer_pipe, answer + end_mark) ? 0 : 3; }

int work(const std::function<std::string()>& job) {
  std::string answer;
  try {
    answer = job();
  } catch (const std::exception& problem) {
    answer = std::string("crash: ") + problem.what();
  }
  return send_answer(answer);
}

using SharedNotes = std::unique_ptr<WorkerNotes, WorkerNotes::Unmapped>;

SharedNotes shared_notes() {
  void* const memory = mmap(nullptr, sizeof(WorkerNotes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error(std::string("no shared memory: ") + std::strerror(errno));
  return SharedNotes(new (memory) WorkerNotes);
}

}  // namespace

struct WorkerPool::Worker {
  std::size_t job;
  SharedNotes notes;
  ChildProcess process;
  Descriptor pipe;
  Rescue rescue{};
  std::string answer{};

  /// Takes the process away; how it died unless its answer is whole.
  std::optional<Death> finish() {
    const int status = process.wait().value_or(0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && answer.ends_with(end_mark)) {
      answer.pop_back();
      return std::nullopt;
    }
    const ProcessEnd end = end_by(status);
    return Death{end.how + text_of(notes->place), end.from_outside, notes->step};
  }
};

WorkerPool::WorkerPool(Job job, Again again) : job_(std::move(job)), again_(std::move(again)) {}

WorkerPool::~WorkerPool() = default;

WorkerPool::Worker WorkerPool::begun(std::size_t number, const std::function<std::string()>& job) const {
  Pipe pipe("a job");
  SharedNotes notes = shared_notes();
  ChildProcess process("a job", [&] {
    pipe.out = Descriptor();
    answer_pipe = pipe.in;
    own_notes = notes.get();
    note_places_in(&notes->place);
    return work(job);
  });
  return {number, std::move(notes), std::move(process), std::move(pipe.out)};
}

void WorkerPool::start(std::size_t number) {
  workers_.push_back(begun(number, [this, number] { return job_(number); }));
}

std::size_t WorkerPool::running() const { return workers_.size(); }

void WorkerPool::tell(int signal) const {
  for (const Worker& worker : workers_) worker.process.tell(signal);
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
    if (polled[i].revents == 0 || read_some(worker.pipe, worker.answer)) continue;
    const auto death = worker.finish();
    const auto retry = death ? worker.rescue.died(*death) : worker.rescue.answered(std::move(worker.answer));
    if (retry && again_) {
      Rescue rescue = std::move(worker.rescue);
      worker = begun(worker.job, [this, number = worker.job, &retry] { return again_(number, *retry); });
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
  _exit(send_answer(answer));
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
