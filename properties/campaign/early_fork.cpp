#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>

#include "properties/campaign/workers.hpp"

namespace tally {
namespace {

using Clock = std::chrono::steady_clock;

/// What goes through a pipe: three numbers, and as many bytes as the last one says.
struct Frame {
  std::uint64_t number = 0, other = 0;
  std::string bytes{};
};
constexpr std::size_t head = 3 * sizeof(std::uint64_t);
constexpr std::uint64_t prologue = ~std::uint64_t{0};  // in place of a number: the text of begin()

/// Whether all of it could be written.
bool put(int pipe, const Frame& frame) {
  const std::array<std::uint64_t, 3> numbers{frame.number, frame.other, frame.bytes.size()};
  std::string text(reinterpret_cast<const char*>(numbers.data()), head);
  text += frame.bytes;
  return write_all(pipe, text);
}

/// The first whole frame, taken off the bytes that have come.
std::optional<Frame> taken(std::string& come) {
  std::array<std::uint64_t, 3> numbers{};
  if (come.size() < head) return std::nullopt;
  std::memcpy(numbers.data(), come.data(), head);
  if (come.size() - head < numbers[2]) return std::nullopt;
  Frame frame{numbers[0], numbers[1], come.substr(head, numbers[2])};
  come.erase(0, head + numbers[2]);
  return frame;
}

/// The helper's own life: it takes commands until there can be none any more.
class Life {
 public:
  Life(int commands, int answers, const std::function<EarlyForkJobs(const std::string&)>& prepare)
      : commands_(commands), answers_(answers), prepare_(prepare) {}

  void live() {
    for (;;) {
      std::vector<pollfd> pipes = pool_.pipes();
      pipes.push_back({commands_, POLLIN, 0});
      if (poll(pipes.data(), pipes.size(), -1) < 0) continue;
      const bool told = pipes.back().revents != 0;
      pipes.pop_back();
      for (auto& [number, answer] : pool_.take(pipes)) {
        const std::chrono::duration<double> took = Clock::now() - begun_.at(number).when;
        if (!put(answers_, {number, static_cast<std::uint64_t>(1e6 * took.count()), std::move(answer)})) return;
      }
      if (told && !read_some(commands_, come_)) return;
      while (const auto frame = taken(come_)) obey(*frame);
    }
  }

 private:
  struct Begun {
    std::size_t before;
    Clock::time_point when;
  };

  void obey(const Frame& frame) {
    if (frame.number == prologue) {
      jobs_ = prepare_(frame.bytes);
      return;
    }
    begun_.insert_or_assign(frame.number, Begun{frame.other, Clock::now()});
    pool_.start(frame.number);
  }

  int commands_, answers_;
  const std::function<EarlyForkJobs(const std::string&)>& prepare_;
  std::string come_;
  EarlyForkJobs jobs_;
  std::map<std::size_t, Begun> begun_;
  WorkerPool pool_{[this](std::size_t i) { return jobs_.job(i, begun_.at(i).before); },
                   [this](std::size_t i, const Death& died) { return jobs_.again(i, begun_.at(i).before, died); }};
};

int live(int commands, int answers, const std::function<EarlyForkJobs(const std::string&)>& prepare) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  try {
    Life(commands, answers, prepare).live();
  } catch (const std::exception& problem) {
    write_all(STDERR_FILENO, std::string("error: the helper of the workers: ") + problem.what() + "\n");
  }
  return 3;
}

[[noreturn]] void gone() { throw std::runtime_error("the process that forks the workers is gone: was it killed?"); }

}  // namespace

EarlyFork::EarlyFork(const std::function<EarlyForkJobs(const std::string&)>& prepare) {
  Pipe down("the workers"), up("the workers");
  process_.emplace("the workers", [&] {
    down.in = Descriptor(), up.out = Descriptor();
    return live(down.out, up.in, prepare);
  });
  commands_ = std::move(down.in), answers_ = std::move(up.out);
}

void EarlyFork::begin(const std::string& text) {
  if (!put(commands_, {prologue, 0, text})) gone();
}

void EarlyFork::start(std::size_t number, std::size_t before) {
  if (!put(commands_, {number, before, {}})) gone();
}

std::vector<EarlyFork::Answer> EarlyFork::take(std::chrono::microseconds longest) {
  std::vector<Answer> answers;
  pollfd pipe{answers_, POLLIN, 0};
  const timespec until{0, std::chrono::duration_cast<std::chrono::nanoseconds>(longest).count()};
  if (ppoll(&pipe, 1, &until, nullptr) <= 0) return answers;
  if (!read_some(answers_, come_)) gone();
  while (auto frame = taken(come_))
    answers.push_back({frame->number, 1e-6 * static_cast<double>(frame->other), std::move(frame->bytes)});
  return answers;
}

}  // namespace tally
