// How far the judging of a large capture is, on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tally::command_line {

/// "[120/301] MB of the trace, w0/m1/backward/d.fc2.weight, 40 s left". Nothing of a trace that is judged in a moment.
class CaptureProgress {
 public:
  explicit CaptureProgress(std::size_t bytes_in_all);
  /// So many bytes are done, this tap last.
  void show(std::size_t bytes, const std::string& tap);

 private:
  std::size_t all_, next_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// The line of such a moment.
std::string progress_line(std::size_t bytes, std::size_t all, const std::string& tap, double seconds);

}  // namespace tally::command_line
