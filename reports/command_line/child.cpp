#include "reports/command_line/child.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace tally::command_line {
namespace {

constexpr int cannot_start = 127, signalled = 128;

[[noreturn]] void become(const std::vector<std::string>& words, int output, bool quiet) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDIN_FILENO);
  dup2(output >= 0 ? output : quiet ? nowhere : STDERR_FILENO, STDOUT_FILENO);
  if (quiet) dup2(nowhere, STDERR_FILENO);
  execvp(arguments.front(), arguments.data());
  _exit(cannot_start);
}

int awaited(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error(std::string("waiting for a program failed: ") + std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : signalled + WTERMSIG(status);
}

pid_t started(const std::vector<std::string>& words, int output, bool quiet) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(words.front() + " cannot be started: " + std::strerror(errno));
  if (child == 0) become(words, output, quiet);
  return child;
}

}  // namespace

int run_child(const std::vector<std::string>& words, bool quiet) {
  const int status = awaited(started(words, -1, quiet));
  if (status == cannot_start) throw std::runtime_error(words.front() + " cannot be started");
  return status;
}

std::string output_of(const std::vector<std::string>& words) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
  const pid_t child = started(words, ends[1], true);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  close(ends[0]);
  if (const int status = awaited(child); status != 0)
    throw std::runtime_error(words.front() + " ended with " + std::to_string(status));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace tally::command_line
