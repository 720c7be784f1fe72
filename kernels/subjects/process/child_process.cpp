#include "kernels/subjects/process/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace tally {
namespace {

constexpr int orphaned = 3;

[[noreturn]] void throw_without(const char* none, const std::string& what) {
  throw std::runtime_error(none + (" for " + what) + ": " + std::strerror(errno));
}

void leave_quietly(int status, void*) { _exit(status); }

[[noreturn]] void run_to_end(const std::function<int()>& body) noexcept {
  on_exit(leave_quietly, nullptr);
  _exit(body());
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Pipe::Pipe(const std::string& what) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_without("no pipe", what);
  out = Descriptor(ends[0]), in = Descriptor(ends[1]);
}

bool write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = write(to, bytes.data(), bytes.size());
    if (sent == 0 || (sent < 0 && errno != EINTR)) return false;
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  }
  return true;
}

bool read_some(int from, std::string& bytes) {
  char some[1 << 16];
  const ssize_t came = read(from, some, sizeof some);
  if (came > 0) bytes.append(some, static_cast<std::size_t>(came));
  return came > 0 || (came < 0 && (errno == EINTR || errno == EAGAIN));
}

ProcessEnd end_by(int status) {
  if (!WIFSIGNALED(status)) return {"an exit with code " + std::to_string(WEXITSTATUS(status)), false};
  const int signal = WTERMSIG(status);
  return {"signal " + std::to_string(signal) + " (" + strsignal(signal) + ")",
          signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT};
}

pid_t forked(const std::string& what, int with_parent) {
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw_without("no process", what);
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, with_parent);
  if (getppid() != parent) _exit(orphaned);
  return 0;
}

std::optional<int> awaited(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return std::nullopt;
  return status;
}

ChildProcess::ChildProcess(const std::string& what, const std::function<int()>& body, int with_parent)
    : pid_(forked(what, with_parent)), owner_(getpid()), with_parent_(with_parent) {
  if (pid_ == 0) run_to_end(body);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(other.release()), owner_(other.owner_), with_parent_(other.with_parent_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(owner_, other.owner_);
  std::swap(with_parent_, other.with_parent_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ == 0 || owner_ != getpid()) return;
  tell(with_parent_);
  wait();
}

}  // namespace tally
