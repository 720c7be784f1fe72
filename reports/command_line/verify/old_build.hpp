// The program as it was at another revision: its worktree, its build, programs that are kept; and the half of `tally
// gate` that runs two builds. Defined in old_build.cpp, build_process.cpp, against.cpp.
#pragma once

#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "kernels/subjects/process/child_process.hpp"
#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line {

// Runs another program and waits for it. It is told to end (SIGTERM) when this one dies.

/// Its exit status; 128 and more where a signal ended it, as shells count. What it prints goes to standard error, or
/// nowhere. Throws std::runtime_error where it cannot be started. No shell is involved.
int run_child(const std::vector<std::string>& words, bool quiet);

/// Its exit status as above; `line` gets every line that it prints, on standard output and standard error alike.
int run_child(const std::vector<std::string>& words, const std::function<void(const std::string&)>& line);

/// What it prints on standard output, without the last line's end. Throws std::runtime_error unless it ends with 0.
std::string output_of(const std::vector<std::string>& words);

// What a build prints: kept in a file, with its progress on standard error.

/// The share done that a line of ninja ("[12/849] ...") or make ("[ 12%] ...") tells, 0 to 1; below 0 where it tells
/// none.
double share_done(const std::string& line);

class BuildLog {
 public:
  explicit BuildLog(const std::filesystem::path& file);
  /// Whether it ended with 0. On a terminal the line of progress is written over, else one is printed each tenth.
  bool run(const std::vector<std::string>& words);
  /// What was printed last, indented.
  std::string last_lines() const;

 private:
  void take(const std::string& line);
  std::ofstream file_;
  std::deque<std::string> last_;
  bool terminal_;
  int shown_ = -1;
};

// How a build folder was configured.

/// A program in its build folder, by what another revision is built and found.
struct BuiltProgram {
  std::filesystem::path folder;  // the build folder
  std::filesystem::path file;    // below it: "reports/tally", "layer_norm_tally"
  std::string target;            // of the build: "tally", "layer_norm_tally"
  std::filesystem::path source;  // the folder that was configured; empty where CMake made none
};

/// The nearest folder above that CMake configured is its build folder. Without one it lies in reports/ there, as Tally's.
BuiltProgram built_program_at(const std::filesystem::path& file);

/// What `cmake` is to be given so that another revision is built alike: generator, compilers, flags, build type, with
/// or without CUDA; no tests but those that programs of a user's own kernels come with. A folder that CMake did not make gives a release build.
std::vector<std::string> configuration_of(const std::filesystem::path& build_folder);

// Programs of earlier commits, each with its hash, so that none is built twice.

/// While it lives, no other process uses the folder: a second one waits.
class KeptPrograms {
 public:
  /// Throws std::runtime_error where the folder cannot be made or written to.
  explicit KeptPrograms(const std::filesystem::path& folder);

  /// The program of a commit built with these options; empty where none is kept whole, and what is left of it goes.
  std::string find(const std::string& commit, const std::vector<std::string>& options) const;
  /// Keeps a copy, and of all programs the most recent eight. Where it lies. Throws std::runtime_error.
  std::string keep(const std::filesystem::path& program, const std::string& commit,
                   const std::vector<std::string>& options) const;

 private:
  std::filesystem::path place_of(const std::string& commit, const std::vector<std::string>& options) const;
  void forget_oldest() const;
  std::filesystem::path folder_;
  Descriptor lock_;
};

// A worktree that is taken from revision to revision, and its build: what two revisions share is not built again.

class OldTree {
 public:
  /// In `folder`, which may hold what is left of an earlier one, of any state. `like` is the program as it is now.
  OldTree(std::filesystem::path folder, std::string repository, const BuiltProgram& like);

  /// The program as of a commit, configured with `options`. Progress goes to standard error, what the tools print to
  /// a log in the folder. What is damaged is made again. Throws std::runtime_error, with the log's last lines, where
  /// that commit does not build.
  std::filesystem::path build(const std::string& commit, const std::vector<std::string>& options) const;

 private:
  bool check_out(const std::string& commit) const;
  void make_worktree(const std::string& commit) const;
  std::string built(const std::vector<std::string>& options) const;
  std::filesystem::path folder_, source_, build_, log_;
  std::string repository_, project_, target_;  // the project's folder below the repository
  std::filesystem::path program_;
};

/// Finds or builds it.
class OldBuild {
 public:
  /// `what` is a build folder, or else a revision of the repository that the working folder is in. That one is built
  /// with the configuration of this program, in a worktree in the folder `cache`, and kept there: the next time the
  /// same commit costs nothing, and another one only what differs. Throws UsageError for what is neither,
  /// std::runtime_error where it does not build.
  OldBuild(const std::string& what, const std::filesystem::path& cache);

  const std::string& program() const { return program_; }

 private:
  std::string program_;
};

/// Where older builds are kept: in the build folder of this program.
std::filesystem::path default_cache();

/// A new folder of a name that nobody has. Throws std::runtime_error.
std::filesystem::path temporary_folder();

// Options of `tally gate`, and the half of it that runs two builds.

struct GateOptions {
  std::string results, baseline, waivers;
  std::string today;  // day that waivers are held against; empty: today

  std::string against;  // a revision or a build folder: runs the campaign below with both, in place of results
  std::string pending;  // file for what could be blessed; empty: pending.json beside the results
  bool all = false;     // every finding, not what fits on a screen

  std::string cache;  // where builds of revisions are kept; empty: in this program's build folder
  std::string law = "*", precisions, seed = defaults::seed, subject, out;
  std::vector<std::string> kernels, kernels_in_both;  // operation=variant, of this build's runs or of both builds'
  double effort = defaults::effort;
  int processes = defaults::processes, repeat = 1;  // pairs of runs
};

/// `tally gate --against`: the same campaign by two builds, in turn, held against each other case by case.
int gate_against(const GateOptions& options);

}  // namespace tally::command_line
