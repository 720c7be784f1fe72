#include "reports/command_line/old_build.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "reports/command_line/child.hpp"
#include "reports/command_line/commands.hpp"

namespace tally::command_line {
namespace {

namespace fs = std::filesystem;

/// Inside a build folder.
constexpr const char* built_program = "reports/tally";

void run_step(const std::vector<std::string>& words, const std::string& what) {
  if (const int status = run_child(words, false); status != 0)
    throw std::runtime_error(what + " failed: " + words.front() + " ended with " + std::to_string(status));
}

std::string repository_here() {
  try {
    return output_of({"git", "rev-parse", "--show-toplevel"});
  } catch (const std::runtime_error&) {
    throw UsageError("--against: expected a build folder, or a working folder inside the repository");
  }
}

std::string commit_of(const std::string& repository, const std::string& revision) {
  try {
    return output_of(
        {"git", "-C", repository, "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"});
  } catch (const std::runtime_error&) {
    throw UsageError("--against: '" + revision + "' is neither a build folder nor a revision of " + repository);
  }
}

}  // namespace

fs::path temporary_folder() {
  std::string name = (fs::temp_directory_path() / "tally-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made: " + name);
  return name;
}

OldBuild::OldBuild(const std::string& what) {
  if (fs::is_directory(what)) {
    program_ = (fs::path(what) / built_program).string();
    if (access(program_.c_str(), X_OK) != 0)
      throw UsageError("--against: " + program_ + " is no program; expected a folder that Tally was built in");
    return;
  }
  repository_ = repository_here();
  build(commit_of(repository_, what));
}

void OldBuild::build(const std::string& revision) {
  worktree_ = temporary_folder();
  const std::string source = (worktree_ / "source").string(), folder = (worktree_ / "build").string();
  std::cerr << "building " << revision << " in " << worktree_.string() << "\n";
  run_step({"git", "-C", repository_, "worktree", "add", "--quiet", "--detach", source, revision}, "the worktree");
  run_step({"cmake", "-S", source, "-B", folder, "-DBUILD_TESTING=OFF", "-DCMAKE_BUILD_TYPE=Release"}, "configuring");
  run_step({"cmake", "--build", folder, "--parallel", "--target", "tally"}, "the build");
  program_ = (fs::path(folder) / built_program).string();
}

OldBuild::~OldBuild() {
  if (worktree_.empty()) return;
  std::error_code ignored;
  fs::remove_all(worktree_, ignored);
  try {
    run_child({"git", "-C", repository_, "worktree", "prune"}, true);
  } catch (const std::runtime_error&) {
    // git went away: its list of worktrees keeps an entry that it prunes by itself
  }
}

}  // namespace tally::command_line
