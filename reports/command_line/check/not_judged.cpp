// What a judged capture leaves open; what judging it takes, and how far it is.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <set>
#include <string>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "reports/command_line/check/capture.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/output.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line {
namespace {

struct Stage {
  std::string name;
  bool heard = false;                   // an end-to-end check that says something
  const TensorCheck* silent = nullptr;  // one that says nothing, lost to underflow if one is
};

bool is_lost(const TensorCheck& check) { return check.got == 0 && check.expected != 0; }

std::vector<Stage> judged_stages(const std::vector<TensorCheck>& checks) {
  std::vector<Stage> stages;
  for (const TensorCheck& check : checks) {
    if (check.lens != "end_to_end" || check.zero_signal || check.elements == 0) continue;
    auto at = std::find_if(stages.begin(), stages.end(), [&](const Stage& stage) { return stage.name == check.stage; });
    if (at == stages.end()) at = stages.insert(at, {check.stage, false, nullptr});
    const bool vacuous = check.status == Status::vacuous;
    at->heard = at->heard || !vacuous;
    if (vacuous && (at->silent == nullptr || is_lost(check) > is_lost(*at->silent))) at->silent = &check;
  }
  return stages;
}

/// Why a check is vacuous, and whether a loss scale would help.
std::string reason_of(const TensorCheck& check) {
  if (check.norm_bound < check.norm_expected && check.adopted_share > 0)
    return percent(check.adopted_share) +
           " of the decisions before it were taken from the run, as their bounds leave them open";
  const std::string reason = "its bound, " + significant(check.norm_bound) + ", exceeds its value, " +
                             significant(check.norm_expected) + ", both as norms";
  return is_lost(check) ? reason + "; lost to underflow, which a loss scale prevents" : reason;
}

}  // namespace

std::string silent_stages(const std::vector<TensorCheck>& checks) {
  std::string names;
  const TensorCheck* first = nullptr;
  for (const Stage& stage : judged_stages(checks)) {
    if (stage.heard) continue;
    names += (names.empty() ? "" : ", ") + stage.name;
    if (first == nullptr || is_lost(*stage.silent) > is_lost(*first)) first = stage.silent;
  }
  if (first == nullptr) return "";
  return "judged stage by stage only, as all their end-to-end checks are vacuous: " + names + "; " + first->tap + ": " +
         reason_of(*first) + "\n";
}

namespace {

/// Layers that no contract defines: what they computed is the capture's word.
std::string given_layers(const Case& c) {
  const auto& layers = c.model.layers;
  const bool any = std::any_of(layers.begin(), layers.end(), [](const Layer& l) { return l.kind == kinds::opaque; });
  return any ? "forward and backward: given by the capture, not judged" : "";
}

/// The stages that left too few taps to judge, each once.
std::string missing_stages(const std::vector<TensorCheck>& checks) {
  std::string text;
  std::set<std::string> named;
  for (const TensorCheck& check : checks) {
    if (check.status != Status::not_run || !named.insert(check.stage).second) continue;
    text += (text.empty() ? "too few taps to judge: " : ", ") + check.stage + " (" + check.tap + ")";
  }
  return text;
}

/// Elements that are not finite where none is expected either: equal, and no result of training.
std::string not_finite(const std::vector<TensorCheck>& checks) {
  std::size_t tensors = 0;
  std::string first;
  for (const TensorCheck& check : checks) {
    if (check.status == Status::fail || check.non_finite == 0) continue;
    if (tensors++ == 0) first = check.tap;
  }
  if (tensors == 0) return "";
  return "not finite: " + first + (tensors == 1 ? "" : " and " + std::to_string(tensors - 1) + " more") +
         ", as their inputs make them";
}

}  // namespace

std::vector<std::string> not_judged(const Case& c, const std::vector<TensorCheck>& checks, bool all_lenses) {
  std::string silent = silent_stages(checks);
  if (!silent.empty()) silent.pop_back();
  const char* local =
      "end to end, stages between missing taps, causes, and the semantic gap: --lens local does not ask for them";
  std::vector<std::string> all{given_layers(c), missing_stages(checks), not_shown(checks),
                               silent,          not_finite(checks),     all_lenses ? "" : local};
  std::erase(all, "");
  return all;
}

namespace {

constexpr std::uint64_t bytes_of_expected = sizeof(long double) + sizeof(double);

std::string in_gib(std::uint64_t bytes) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  const std::uint64_t tenths = (bytes * 10 + gib - 1) / gib;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

std::uint64_t parameters_in(const Case& c) {
  std::uint64_t all = 0;
  for (const std::string& p : parameters_of(c.model)) all += c.tensors.at(p).elements();
  return all;
}

}  // namespace

std::uint64_t bytes_of_all_lenses(const Case& c) {
  const std::uint64_t tensors = 6 + state_of(c.recipe.optimizer).size();
  std::int64_t rows = 0, features = c.model.input;
  for (const auto& window : c.windows) rows = std::max(rows, *std::max_element(window.begin(), window.end()));
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) features += features_after(c.model, i);
  const auto activations = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(features);
  return bytes_of_expected * (parameters_in(c) * tensors + activations);
}

std::uint64_t free_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "MemAvailable:" && file >> kibibytes) return kibibytes << 10;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

void require_room(const Case& c, std::uint64_t available) {
  const std::uint64_t needed = bytes_of_all_lenses(c);
  if (needed <= available) return;
  throw UsageError("memory: " + in_gib(available) + " are free; expected " + in_gib(needed) +
                   " for all lenses over a model of " + std::to_string(parameters_in(c)) +
                   " parameters; run again with --lens local, which needs only a few times the largest tensor");
}

std::string progress_bar(const std::string& line, std::size_t width) {
  const auto slash = line.find('/'), bracket = line.find(']');
  if (!line.starts_with("[") || slash == std::string::npos || bracket == std::string::npos) return line;
  const auto done = std::strtoull(line.c_str() + 1, nullptr, 10);
  const auto all = std::strtoull(line.c_str() + slash + 1, nullptr, 10);
  if (all == 0 || done > all) return line;
  const std::size_t filled = width * done / all;
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] " + line.substr(1, bracket - 1) +
         line.substr(bracket + 1);
}

void show_progress(const std::string& line) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) {
    constexpr std::size_t bar = 24, shown = 100;
    std::cerr << "\r\033[K" << progress_bar(line, bar).substr(0, shown) << std::flush;
    const auto slash = line.find('/'), bracket = line.find(']');
    const bool last =
        slash != std::string::npos && line.substr(1, slash - 1) == line.substr(slash + 1, bracket - slash - 1);
    if (last) std::cerr << "\n";
  } else {
    std::cerr << line << "\n";
  }
}

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
