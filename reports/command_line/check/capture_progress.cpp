#include "reports/command_line/check/capture_progress.hpp"

#include <algorithm>
#include <cmath>

#include "reports/command_line/check/progress.hpp"

namespace tally::command_line {
namespace {

constexpr std::size_t megabyte = 1'000'000;
/// Below it a trace is judged before anybody asks how far it is.
constexpr std::size_t shown_from = 256 * megabyte;
constexpr std::size_t most_lines = 20;

constexpr std::size_t least_share = 50;  // of it all must be done before anything follows for the rest

std::string duration(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  return whole < 100 ? std::to_string(whole) + " s" : std::to_string((whole + 30) / 60) + " min";
}

}  // namespace

std::string progress_line(std::size_t bytes, std::size_t all, const std::string& tap, double seconds) {
  const std::size_t done = std::min(bytes, all);
  std::string line =
      "[" + std::to_string(done / megabyte) + "/" + std::to_string(all / megabyte) + "] MB of the trace, " + tap;
  if (done >= all / least_share && done < all)
    line += ", " + duration(seconds * static_cast<double>(all - done) / static_cast<double>(done)) + " left";
  return line;
}

CaptureProgress::CaptureProgress(std::size_t bytes_in_all) : all_(bytes_in_all) {}

void CaptureProgress::show(std::size_t bytes, const std::string& tap) {
  if (all_ < shown_from || bytes < next_) return;
  next_ = bytes + all_ / most_lines;
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - began_;
  show_progress(progress_line(bytes, all_, tap, since.count()));
}

}  // namespace tally::command_line
