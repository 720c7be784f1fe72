// `tally gate --against`: the same campaign by two builds, in turn, held against each other case by case.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "reports/command_line/child.hpp"
#include "reports/command_line/commands.hpp"
#include "reports/command_line/old_build.hpp"
#include "reports/command_line/run_words.hpp"
#include "reports/command_line/stored.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/compare/timing.hpp"
#include "reports/text/numbers.hpp"

namespace tally::command_line {
namespace {

namespace fs = std::filesystem;

std::string this_program() { return fs::read_symlink("/proc/self/exe").string(); }

double seconds_of(const fs::path& folder) {
  std::ifstream in(folder / "run.json");
  const auto facts = nlohmann::json::parse(in, nullptr, false);
  if (!facts.is_object() || !facts.contains("seconds")) throw std::runtime_error("run.json holds no seconds");
  return facts.at("seconds").get<double>();
}

/// The campaign both run. An older build that cannot draw from the seed alone draws some other cases.
class Campaign {
 public:
  explicit Campaign(const GateOptions& options) : options_(options) {}

  /// Runs it into `folder`; false where the program knows no such options.
  bool run(const std::string& program, const fs::path& folder, bool is_new, bool steered) const {
    std::vector<std::string> words{program, "verify",        "--no-training", "--no-shrink",
                                   "--law", options_.law,    "--seed",        options_.seed,
                                   "--out", folder.string(), "--processes",   std::to_string(options_.processes)};
    if (options_.effort > 0) words.insert(words.end(), {"--effort", shortest(options_.effort)});
    if (!options_.precisions.empty()) words.insert(words.end(), {"--precision", options_.precisions});
    if (!options_.subject.empty()) words.insert(words.end(), {"--subject", options_.subject});
    if (!steered) words.push_back("--unsteered");
    if (is_new)
      for (const std::string& kernel : options_.kernels) words.insert(words.end(), {"--kernel", kernel});
    const int status = run_child(words, true);
    if (status == usage) return false;
    if (status != pass && status != failed)
      throw std::runtime_error(program + " verify ended with " + std::to_string(status));
    return true;
  }

 private:
  const GateOptions& options_;
};

struct Runs {
  Results before, now;
  Timing timing;
  bool steered = false, before_repeats = true, now_repeats = true;
};

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

Runs runs_of(const GateOptions& options, const std::string& old_program) {
  const Scratch scratch;
  const Campaign campaign(options);
  Runs runs;
  std::vector<double> before, now;
  const auto at = [&](const char* side, int i) { return scratch.path / (side + std::to_string(i)); };
  const auto run = [&](const std::string& program, const char* side, int i, bool is_new) {
    if (campaign.run(program, at(side, i), is_new, runs.steered)) return;
    runs.steered = true;
    if (i > 0 || is_new || !campaign.run(program, at(side, i), is_new, true))
      throw UsageError("gate --against: " + program + " refuses the campaign; see `tally verify --help`");
  };
  for (int i = 0; i < options.repeat; ++i) {
    std::cerr << "pair " << i + 1 << " of " << options.repeat << "\n";
    run(old_program, "before", i, false);
    run(this_program(), "now", i, true);
    before.push_back(seconds_of(at("before", i))), now.push_back(seconds_of(at("now", i)));
    Results a = results_of((at("before", i) / "results.json").string());
    Results b = results_of((at("now", i) / "results.json").string());
    if (i == 0) {
      runs.before = std::move(a), runs.now = std::move(b);
    } else {
      runs.before_repeats = runs.before_repeats && to_json(a) == to_json(runs.before);
      runs.now_repeats = runs.now_repeats && to_json(b) == to_json(runs.now);
    }
  }
  runs.timing = timing_of(std::move(before), std::move(now));
  return runs;
}

std::string notes_of(const Runs& runs) {
  std::string text = text_of(runs.timing) + "\n";
  if (runs.steered)
    text += "the older build steers its search by what it finds: cases that only one drew are left out\n";
  if (!runs.before_repeats) text += "the runs before do not repeat: another run may differ\n";
  if (!runs.now_repeats) text += "the runs now do not repeat: another run may differ\n";
  return text;
}

}  // namespace

int gate_against(const GateOptions& options) {
  const OldBuild old(options.against, options.cache.empty() ? default_cache() : fs::path(options.cache));
  const Runs runs = runs_of(options, old.program());
  const Comparison found = compared(entries_of(runs.before), entries_of(runs.now));
  const std::string notes = notes_of(runs);
  std::cout << comparison_text(found) << "\n" << notes;
  if (!options.out.empty()) {
    require_writable(options.out);
    std::string page = comparison_markdown(found);
    for (std::size_t from = 0, to = 0; (to = notes.find('\n', from)) != std::string::npos; from = to + 1)
      page += "\n" + notes.substr(from, to - from) + "\n";
    write_atomically((fs::path(options.out) / "summary.md").string(), page);
  }
  if (found.cases == 0) return nothing_ran;
  return is_worse(found) ? failed : pass;
}

}  // namespace tally::command_line
