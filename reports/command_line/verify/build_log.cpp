#include "reports/command_line/verify/build_log.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "reports/command_line/verify/child.hpp"

namespace tally::command_line {
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

}  // namespace tally::command_line
