#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "kernels/subjects/process/guarded_process.hpp"

namespace tally {
namespace {

constexpr int not_started = 3;

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

/// Whatever calls exit() in here must neither run the destructors of the whole program nor write what it has buffered.
void leave_quietly(int status, void*) { _exit(status); }

[[noreturn]] void run_body(const GuardedProcess::Body& body, const StepLimits& limits, const GuardedEnds& ends,
                           pid_t guard) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guard) _exit(not_started);
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
  on_exit(leave_quietly, nullptr);
  body(ends.in, ends.out);
  _exit(0);
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

}  // namespace

void guard_process(const GuardedProcess::Body& body, const StepLimits& limits, const GuardedEnds& ends) {
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
  const pid_t own = getpid(), child = fork();
  if (child < 0) _exit(not_started);
  if (child == 0) run_body(body, limits, ends, own);
  close(ends.in);
  close(ends.out);
  int status = 0;
  bool over = false;
  while (!over && !reap(child, status)) {
    pollfd life{ends.life, POLLIN, 0};
    over = ppoll(&life, 1, nullptr, &waiting) > 0;
  }
  end_all_children();
  if (!over && write(ends.status, &status, sizeof status) != sizeof status) _exit(not_started);
  _exit(0);
}

}  // namespace tally
