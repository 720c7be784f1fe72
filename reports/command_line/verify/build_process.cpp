// Another program run, what a build prints, and how it was configured.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string_view>

#include "kernels/subjects/process/child_process.hpp"
#include "reports/command_line/part.hpp"
#include "reports/command_line/verify/old_build.hpp"

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

ChildProcess child_of(const std::vector<std::string>& words, const Outputs& outputs) {
  const auto become = [&] {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    dup2(nowhere(), STDIN_FILENO);
    dup2(outputs.standard >= 0 ? outputs.standard : STDERR_FILENO, STDOUT_FILENO);
    if (outputs.error >= 0) dup2(outputs.error, STDERR_FILENO);
    execvp(arguments.front(), arguments.data());
    return cannot_start;
  };
  return ChildProcess(words.front(), become, SIGTERM);  // it is not to go on when nobody waits for it any more
}

int status_of(const std::vector<std::string>& words, ChildProcess child) {
  const auto status = child.wait();
  if (!status) throw std::runtime_error("waiting for " + words.front() + " failed: " + std::strerror(errno));
  const int code = WIFEXITED(*status) ? WEXITSTATUS(*status) : signalled + WTERMSIG(*status);
  if (code == cannot_start) throw std::runtime_error(words.front() + " cannot be started");
  return code;
}

/// Runs it with its standard output, and its standard error where asked for, at the writing end of a pipe.
int run_read(const std::vector<std::string>& words, bool errors_too,
             const std::function<void(std::string_view)>& take) {
  Pipe pipe(words.front());
  ChildProcess child = child_of(words, {pipe.in, errors_too ? int{pipe.in} : nowhere()});
  pipe.in = Descriptor();
  std::string part;
  for (bool open = true; open; part.clear()) {
    open = read_some(pipe.out, part);
    if (!part.empty()) take(part);
  }
  return status_of(words, std::move(child));
}

}  // namespace

int run_child(const std::vector<std::string>& words, bool quiet) {
  return status_of(words, child_of(words, quiet ? Outputs{nowhere(), nowhere()} : Outputs{}));
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

namespace {

constexpr std::size_t kept_lines = 12, longest_line = 240;

}  // namespace

double share_done(const std::string& line) {
  unsigned done = 0, all = 0, percent = 0;
  if (std::sscanf(line.c_str(), "[%u/%u]", &done, &all) == 2 && all > 0) return static_cast<double>(done) / all;
  if (std::sscanf(line.c_str(), "[%u%%]", &percent) == 1) return percent / 100.0;
  return -1;
}

BuildLog::BuildLog(const std::filesystem::path& file) : file_(file), terminal_(isatty(STDERR_FILENO) != 0) {}

bool BuildLog::run(const std::vector<std::string>& words) {
  last_.clear();
  const int status = run_child(words, [this](const std::string& line) { take(line); });
  file_.flush();
  if (terminal_ && shown_ >= 0) std::cerr << "\n";
  return status == 0;
}

void BuildLog::take(const std::string& line) {
  file_ << line << "\n";
  if (const double share = share_done(line); share >= 0) {
    const int step = terminal_ ? 1 : 10, percent = static_cast<int>(100 * share) / step * step;
    if (percent != shown_)
      std::cerr << (terminal_ ? "\r" : "") << "building " << percent << " %" << (terminal_ ? "" : "\n");
    shown_ = percent;
    if (line.find("FAILED") == std::string::npos) return;
  }
  last_.push_back(line.substr(0, longest_line));
  if (last_.size() > kept_lines) last_.pop_front();
}

std::string BuildLog::last_lines() const {
  std::string text;
  for (const std::string& line : last_) text += "  " + line + "\n";
  if (!text.empty()) text.pop_back();
  return text.empty() ? "  nothing was printed" : text;
}

namespace {

constexpr const char* carried[] = {"CMAKE_BUILD_TYPE",
                                   "CMAKE_CXX_COMPILER",
                                   "CMAKE_CXX_COMPILER_LAUNCHER",
                                   "CMAKE_CXX_FLAGS",
                                   "CMAKE_CUDA_COMPILER",
                                   "CMAKE_CUDA_COMPILER_LAUNCHER",
                                   "CMAKE_CUDA_FLAGS",
                                   "CMAKE_CUDA_ARCHITECTURES",
                                   "CMAKE_PREFIX_PATH",
                                   "CUDAToolkit_ROOT",
                                   "TALLY_CHECKED_COMPILER",
                                   "TALLY_CUDA",
                                   "TALLY_SANITIZE",
                                   "tally_DIR"};

/// NAME:TYPE=VALUE, one a line.
std::map<std::string, std::string> entries_of(const std::filesystem::path& cache) {
  std::map<std::string, std::string> entries;
  std::ifstream in(cache);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':'), equals = line.find('=', colon == std::string::npos ? 0 : colon);
    if (line.starts_with("#") || line.starts_with("//") || colon > equals || equals == std::string::npos) continue;
    entries[line.substr(0, colon)] = line.substr(equals + 1);
  }
  return entries;
}

}  // namespace

/// What verifies is the program `tally` of any commit; of the lab there are commits without.
BuiltProgram built_program_at(const std::filesystem::path& given) {
  const std::filesystem::path file =
      given.filename() == program_of(Part::lab) ? given.parent_path() / program_of(Part::verify) : given;
  for (auto folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    if (!std::filesystem::exists(folder / "CMakeCache.txt")) continue;
    const auto entries = entries_of(folder / "CMakeCache.txt");
    const auto source = entries.find("CMAKE_HOME_DIRECTORY");
    return {folder, file.lexically_relative(folder), file.filename(), source == entries.end() ? "" : source->second};
  }
  return {file.parent_path().parent_path(), "reports/tally", "tally", ""};
}

std::vector<std::string> configuration_of(const std::filesystem::path& build_folder) {
  const auto entries = entries_of(build_folder / "CMakeCache.txt");
  std::vector<std::string> options;
  if (!entries.contains("tally_DIR")) options.push_back("-DBUILD_TESTING=OFF");
  if (const auto generator = entries.find("CMAKE_GENERATOR"); generator != entries.end())
    options.insert(options.end(), {"-G", generator->second});
  for (const char* name : carried)
    if (const auto entry = entries.find(name); entry != entries.end() && !entry->second.empty())
      options.push_back("-D" + entry->first + "=" + entry->second);
  if (!entries.contains("CMAKE_BUILD_TYPE")) options.push_back("-DCMAKE_BUILD_TYPE=Release");
  return options;
}

}  // namespace tally::command_line
