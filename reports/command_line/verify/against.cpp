#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "kernels/device/device.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/baseline.hpp"
#include "reports/command_line/verify/old_build.hpp"
#include "reports/command_line/verify/subject.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line {
namespace {

namespace fs = std::filesystem;

constexpr const char* kernel_times = "kernel_times.tsv";

std::string this_program() { return fs::read_symlink("/proc/self/exe").string(); }

double seconds_of(const fs::path& folder) {
  std::ifstream in(folder / "run.json");
  const auto facts = nlohmann::json::parse(in, nullptr, false);
  if (!facts.is_object() || !facts.contains("seconds")) throw std::runtime_error("run.json holds no seconds");
  return facts.at("seconds").get<double>();
}

/// One of the two, and what it can do.
struct Program {
  std::string path;
  bool draws_from_seed = false, times_kernels = false, keeps_going = false;

  explicit Program(std::string where) : path(std::move(where)) {
    const std::string help = output_of({path, "verify", "--help"});
    draws_from_seed = help.find("--unsteered") != std::string::npos;
    times_kernels = help.find("--kernel-times") != std::string::npos;
    keeps_going = help.find("--keep-going") != std::string::npos;
  }
};

struct Runs {
  Results before, now;
  Timing timing;
  std::vector<TimedPair> kernels;
  bool steered = false, keep_going = false, timed = false, before_repeats = true, now_repeats = true;
};

/// Runs the campaign into `folder`. Throws UsageError where the program refuses it.
void run_campaign_of(const Program& program, const GateOptions& options, const fs::path& folder, const Runs& runs,
                     const std::vector<std::string>& kernels) {
  std::vector<std::string> words{program.path, "verify",        "--no-training", "--no-shrink",
                                 "--law",      options.law,     "--seed",        options.seed,
                                 "--out",      folder.string(), "--processes",   std::to_string(options.processes)};
  if (options.effort > 0) words.insert(words.end(), {"--effort", shortest(options.effort)});
  if (!options.precisions.empty()) words.insert(words.end(), {"--precision", options.precisions});
  if (!options.subject.empty()) words.insert(words.end(), {"--subject", options.subject});
  if (!runs.steered) words.push_back("--unsteered");
  if (runs.keep_going) words.push_back("--keep-going");
  if (program.times_kernels) words.insert(words.end(), {"--kernel-times", (folder / kernel_times).string()});
  for (const auto* named : {&kernels, &options.kernels_in_both})
    for (const std::string& kernel : *named) words.insert(words.end(), {"--kernel", kernel});
  std::string last;
  const int status = run_child(words, [&last](const std::string& line) { last = line; });
  if (status == usage) throw UsageError("gate --against: " + program.path + " refuses the campaign: " + last);
  if (status == absent) throw DeviceAbsent(last);
  if (status != pass && status != failed)
    throw std::runtime_error(program.path + " verify ended with " + std::to_string(status) + ": " + last);
}

/// A folder that goes with its scope.
struct Scratch {
  fs::path path = temporary_folder();
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

/// Both programs, in turn: each starts every other pair, so that what only one half of the time knows favours neither.
class Pairs {
 public:
  Pairs(const GateOptions& options, const std::string& old_program)
      : options_(options), before_(old_program), now_(this_program()) {
    runs_.steered = !before_.draws_from_seed || !now_.draws_from_seed;
    runs_.keep_going = before_.keeps_going && now_.keeps_going;
    runs_.timed = before_.times_kernels && now_.times_kernels;
  }

  Runs run() {
    for (int i = 0; i < options_.repeat; ++i) {
      std::cerr << "pair " << i + 1 << " of " << options_.repeat << "\n";
      for (const bool is_new : {i % 2 == 1, i % 2 == 0})
        run_campaign_of(is_new ? now_ : before_, options_, folder(is_new, i), runs_,
                        is_new ? options_.kernels : std::vector<std::string>{});
      take(i);
    }
    runs_.timing = timing_of(std::move(seconds_before_), std::move(seconds_now_));
    return std::move(runs_);
  }

 private:
  fs::path folder(bool is_new, int i) const {
    return scratch_.path / ((is_new ? "now" : "before") + std::to_string(i));
  }

  void take(int i) {
    seconds_before_.push_back(seconds_of(folder(false, i))), seconds_now_.push_back(seconds_of(folder(true, i)));
    if (runs_.timed)
      runs_.kernels.push_back(
          {read_kernel_times(folder(false, i) / kernel_times), read_kernel_times(folder(true, i) / kernel_times)});
    Results before = results_of((folder(false, i) / "results.json").string());
    Results now = results_of((folder(true, i) / "results.json").string());
    if (i == 0) {
      runs_.before = std::move(before), runs_.now = std::move(now);
    } else {
      runs_.before_repeats = runs_.before_repeats && to_json(before) == to_json(runs_.before);
      runs_.now_repeats = runs_.now_repeats && to_json(now) == to_json(runs_.now);
    }
  }

  const GateOptions& options_;
  const Scratch scratch_;
  const Program before_, now_;
  Runs runs_;
  std::vector<double> seconds_before_, seconds_now_;
};

std::string notes_of(const Runs& runs) {
  std::string text = text_of(runs.timing) + "\n";
  if (!runs.timed) text += "the older build does not time its kernels\n";
  if (runs.steered)
    text += "the older build steers its search by what it finds: cases that only one drew are left out\n";
  if (!runs.before_repeats) text += "the runs before do not repeat: another run may differ\n";
  if (!runs.now_repeats) text += "the runs now do not repeat: another run may differ\n";
  return text;
}

}  // namespace

int gate_against(const GateOptions& options) {
  if (!options.out.empty()) {
    require_replaceable(options.out, {"summary.md"});
    require_writable(options.out);
  }
  const OldBuild old(options.against, options.cache.empty() ? default_cache() : fs::path(options.cache));
  const Runs runs = Pairs(options, old.program()).run();
  const Comparison found = compared(runs.before, runs.now);
  const std::vector<KernelTiming> times = kernel_timings_of(runs.kernels);
  const std::string notes = notes_of(runs);
  const ChangesText how{file_of, options.all};
  const std::string text = comparison_text(found, how);
  const std::size_t decision = text.rfind('\n', text.size() - 2) + 1;  // the last line stays the last
  std::cout << text.substr(0, decision) << kernel_timings_text(times) << notes << text.substr(decision);
  if (!options.out.empty()) {
    std::string page = comparison_markdown(found, markdown_limit, file_of) + kernel_timings_markdown(times);
    for (std::size_t from = 0, to = 0; (to = notes.find('\n', from)) != std::string::npos; from = to + 1)
      page += "\n" + notes.substr(from, to - from) + "\n";
    write_atomically((fs::path(options.out) / "summary.md").string(), page);
  }
  if (found.cases == 0) return nothing_ran;
  return is_worse(found) ? failed : pass;
}

}  // namespace tally::command_line
