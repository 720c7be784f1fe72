// A process under limits, and the guard between it and this one.
#include "kernels/subjects/process/guarded_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "oracle/case/file/json.hpp"

namespace tally {
namespace {

using Body = GuardedProcess::Body;

/// What the guard and the body have: in and out of the body, and of the guard status, life and log.
struct Ends {
  int in, out, status, life, log;
};

constexpr const char* step_words = "the training step";

/// All but the standard streams and these.
void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = 3;
  for (const int each : kept) {
    if (static_cast<unsigned>(each) > first) close_range(first, static_cast<unsigned>(each) - 1, 0);
    first = std::max(first, static_cast<unsigned>(each) + 1);
  }
  close_range(first, ~0U, 0);
}

/// Bytes of data that this process has by now.
std::uint64_t bytes_of_data() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  for (int column = 0; column < 6; ++column) file >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void limit(int resource, std::uint64_t most) {
  const rlimit both{most, most};
  setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

int run_body(const Body& body, const StepLimits& limits, const Ends& ends) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGCHLD}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, STDIN_FILENO);
  dup2(ends.log, STDOUT_FILENO);
  dup2(ends.log, STDERR_FILENO);
  close_all_but({ends.in, ends.out});
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, limits.bytes);
  limit(RLIMIT_DATA, bytes_of_data() + limits.bytes);
  body(ends.in, ends.out);
  return 0;
}

/// The processes whose parent this one is, some of them only since their own parent ended.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/children");
  for (pid_t each = 0; file >> each;) found.push_back(each);
  return found;
}

/// Those of a killed process become this one's own: again until there are none.
void end_all_children() {
  for (;;) {
    for (const pid_t each : children()) kill(each, SIGKILL);
    if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
  }
}

void nothing(int) {}

/// Takes in whoever ended; true once `child` did, with its status.
bool reap(pid_t child, int& status) {
  for (;;) {
    int how = 0;
    const pid_t ended = waitpid(-1, &how, WNOHANG);
    if (ended <= 0) return false;
    if (ended != child) continue;
    status = how;
    return true;
  }
}

/// In the guard's own process: runs the body in a child, and ends when that has ended, whose status it writes, or when
/// `life` is closed by whoever holds its other end.
int guard(const Body& body, const StepLimits& limits, const Ends& ends) {
  setsid();  // what the terminal sends is for the program, which ends this in its own time
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) std::signal(signal, SIG_IGN);
  std::signal(SIGCHLD, nothing);
  sigset_t blocked, waiting;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  sigprocmask(SIG_BLOCK, &blocked, &waiting);
  sigdelset(&waiting, SIGCHLD);
  close_all_but({ends.in, ends.out, ends.status, ends.life, ends.log});
  const pid_t child = ChildProcess(step_words, [&] { return run_body(body, limits, ends); }).release();
  close(ends.in);
  close(ends.out);
  int status = 0;
  bool over = false;
  while (!over && !reap(child, status)) {
    pollfd life{ends.life, POLLIN, 0};
    over = ppoll(&life, 1, nullptr, &waiting) > 0;
  }
  end_all_children();
  return over || write_all(ends.status, {reinterpret_cast<const char*>(&status), sizeof status}) ? 0 : 1;
}

constexpr std::size_t longest_line = 1 << 16, longest_words = 4096;
constexpr int look_again = 200;       // milliseconds between two looks at the flag
constexpr double seconds_to_end = 5;  // from the end of a process's lines to its own

using Clock = std::chrono::steady_clock;

[[noreturn]] void refuse(const char* what) {
  throw std::runtime_error(std::string("no ") + what + " for " + step_words + ": " + std::strerror(errno));
}

/// A write to whom has ended is an error of the write, not the end of this process.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    const timespec at_once{};
    const int error = errno;
    while (!sigismember(&before_, SIGPIPE) && sigtimedwait(&pipe_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t pipe_, before_;
};

Clock::time_point deadline_in(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Whole milliseconds to the deadline, as poll takes them.
int left_until(Clock::time_point deadline) {
  const std::chrono::duration<double, std::milli> left = deadline - Clock::now();
  return static_cast<int>(std::clamp(std::ceil(left.count()), 0.0, 1e9));
}

}  // namespace

GuardedProcess::GuardedProcess(const Body& body, const StepLimits& limits) : interrupted_(limits.interrupted) {
  Pipe in(step_words), out(step_words), status(step_words), life(step_words);
  log_ = Descriptor(memfd_create("tally-step-log", MFD_CLOEXEC));
  if (log_ < 0) refuse("memory");
  fcntl(log_, F_SETFL, O_APPEND);
  const auto watch = [&] { return guard(body, limits, {in.out, out.in, status.in, life.out, log_}); };
  guard_.emplace(step_words, watch, 0);
  to_ = std::move(in.in), from_ = std::move(out.out), status_ = std::move(status.out), life_ = std::move(life.in);
  fcntl(to_, F_SETFL, O_NONBLOCK);
  fcntl(from_, F_SETFL, O_NONBLOCK);
}

bool GuardedProcess::send_some(std::string_view& left) {
  const WithoutPipeSignal quiet;
  const ssize_t sent = write(to_, left.data(), left.size());
  if (sent > 0) left.remove_prefix(static_cast<std::size_t>(sent));
  return sent > 0 || errno == EAGAIN || errno == EINTR;
}

void GuardedProcess::learn_end() {
  const auto deadline = deadline_in(seconds_to_end);
  pollfd told{status_, POLLIN, 0};
  while (poll(&told, 1, left_until(deadline)) < 0 && errno == EINTR) {
  }
  int status = 0;
  if (told.revents == 0)
    ended_ = ProcessEnd{"the end of its lines, while it went on", false};
  else
    ended_ = read(status_, &status, sizeof status) == sizeof status ? end_by(status)
                                                                    : ProcessEnd{"an end of its guard", true};
}

std::optional<std::string> GuardedProcess::ask(const std::string& line, double seconds) {
  const auto deadline = deadline_in(seconds);
  const std::string whole = line + "\n";
  std::string_view left = whole;
  received_.clear();
  if (ftruncate(log_, 0) != 0) refuse("memory");
  for (;;) {
    pollfd places[3] = {{from_, POLLIN, 0}, {status_, POLLIN, 0}, {left.empty() ? -1 : to_, POLLOUT, 0}};
    const int ready = poll(places, 3, std::min(left_until(deadline), look_again));
    if (interrupted_ != nullptr && *interrupted_) return std::nullopt;
    if (ready == 0 && left_until(deadline) == 0) return std::nullopt;
    if (ready < 0 && errno != EINTR) refuse("answer");
    if (ready <= 0) continue;
    if (places[2].revents != 0 && !send_some(left)) left = {};  // how it ended is told by the others
    const bool open = places[0].revents == 0 || read_some(from_, received_);
    if (const auto end = received_.find('\n'); end != std::string::npos) return received_.substr(0, end);
    if (received_.size() > longest_line) return received_;
    if (open && places[1].revents == 0) continue;
    learn_end();
    return std::nullopt;
  }
}

std::string GuardedProcess::last_words() const {
  struct stat facts {};
  if (fstat(log_, &facts) != 0 || facts.st_size <= 0) return "";
  const auto size = static_cast<std::size_t>(facts.st_size), taken = std::min(size, longest_words);
  std::string text(taken, '\0');
  if (pread(log_, text.data(), taken, static_cast<off_t>(size - taken)) != static_cast<ssize_t>(taken)) return "";
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  text = text.substr(text.find_last_of('\n') + 1);
  for (char& each : text)
    if (static_cast<unsigned char>(each) < ' ') each = ' ';
  return shortened(text);
}

}  // namespace tally
