#include "reports/command_line/verify/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace tally::command_line {
namespace {

constexpr int cannot_start = 127, signalled = 128;

/// Where what a program prints goes; below 0: to standard error.
struct Outputs {
  int standard = -1, error = -1;
};

int nowhere() {
  static const int descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
  return descriptor;
}

[[noreturn]] void become(const std::vector<std::string>& words, const Outputs& outputs, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // it is not to go on when nobody waits for it any more
  if (getppid() != parent) _exit(cannot_start);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  dup2(nowhere(), STDIN_FILENO);
  dup2(outputs.standard >= 0 ? outputs.standard : STDERR_FILENO, STDOUT_FILENO);
  if (outputs.error >= 0) dup2(outputs.error, STDERR_FILENO);
  execvp(arguments.front(), arguments.data());
  _exit(cannot_start);
}

int awaited(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error(std::string("waiting for a program failed: ") + std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : signalled + WTERMSIG(status);
}

pid_t started_process(const std::vector<std::string>& words, const Outputs& outputs) {
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw std::runtime_error(words.front() + " cannot be started: " + std::strerror(errno));
  if (child == 0) become(words, outputs, parent);
  return child;
}

int status_of(const std::vector<std::string>& words, pid_t child) {
  const int status = awaited(child);
  if (status == cannot_start) throw std::runtime_error(words.front() + " cannot be started");
  return status;
}

/// Runs it with its standard output, and its standard error where asked for, at the writing end of a pipe.
int run_read(const std::vector<std::string>& words, bool errors_too,
             const std::function<void(std::string_view)>& take) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
  const pid_t child = started_process(words, {ends[1], errors_too ? ends[1] : nowhere()});
  close(ends[1]);
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (got > 0) take({buffer, static_cast<std::size_t>(got)});
    if (got < 0 && errno != EINTR) break;
  }
  close(ends[0]);
  return status_of(words, child);
}

}  // namespace

int run_child(const std::vector<std::string>& words, bool quiet) {
  return status_of(words, started_process(words, quiet ? Outputs{nowhere(), nowhere()} : Outputs{}));
}

int run_child(const std::vector<std::string>& words, const std::function<void(const std::string&)>& line) {
  std::string rest;
  const int status = run_read(words, true, [&](std::string_view part) {
    rest += part;
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1))
      line(rest.substr(0, end));
  });
  if (!rest.empty()) line(rest);
  return status;
}

std::string output_of(const std::vector<std::string>& words) {
  std::string text;
  if (const int status = run_read(words, false, [&text](std::string_view part) { text += part; }); status != 0)
    throw std::runtime_error(words.front() + " ended with " + std::to_string(status));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace tally::command_line
