#include "reports/command_line/verify/old_tree.hpp"

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "reports/command_line/verify/build_log.hpp"
#include "reports/command_line/verify/child.hpp"

namespace tally::command_line {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

/// Where git keeps what all worktrees of a repository share; empty where there is none.
std::string shared_of(const std::string& folder) {
  try {
    return output_of({"git", "-C", folder, "rev-parse", "--path-format=absolute", "--git-common-dir"});
  } catch (const std::runtime_error&) {
    return "";
  }
}

Words git_in(const fs::path& folder, const Words& words) {
  Words all{"git", "-C", folder.string()};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

/// The folder of the project below its repository; "." where it is none of it.
std::string project_below(const std::string& repository, const fs::path& source) {
  std::error_code absent;
  const fs::path below = fs::proximate(source, repository, absent);
  return source.empty() || absent || below.empty() || below.is_absolute() || *below.begin() == ".." ? "."
                                                                                                    : below.string();
}

}  // namespace

OldTree::OldTree(fs::path folder, std::string repository, const BuiltProgram& like)
    : folder_(std::move(folder)),
      source_(folder_ / "source"),
      build_(source_ / "build" / "against"),  // where a build folder of the repository itself lies: ccache finds both
      log_(folder_ / "build.log"),
      repository_(std::move(repository)),
      project_(project_below(repository_, like.source)),
      target_(like.target),
      program_(like.file) {}

/// False where the worktree is none of this repository's, or git cannot work in it.
bool OldTree::check_out(const std::string& commit) const {
  if (!fs::exists(source_ / ".git") || shared_of(source_.string()) != shared_of(repository_)) return false;
  return run_child(git_in(source_, {"checkout", "--quiet", "--force", "--detach", commit}), true) == 0 &&
         run_child(git_in(source_, {"clean", "-ffdq"}), true) == 0;
}

void OldTree::make_worktree(const std::string& commit) const {
  fs::remove_all(source_);
  fs::create_directories(folder_);
  BuildLog log(log_);
  run_child(git_in(repository_, {"worktree", "prune"}), true);
  if (!log.run(git_in(repository_, {"worktree", "add", "--force", "--detach", source_.string(), commit})))
    throw std::runtime_error("no worktree can be made in " + source_.string() + ":\n" + log.last_lines());
}

/// The complaint; empty where it was built.
std::string OldTree::built(const Words& options) const {
  BuildLog log(log_);
  Words configure{"cmake", "-S", (source_ / project_).string(), "-B", build_.string()};
  configure.insert(configure.end(), options.begin(), options.end());
  const bool done =
      log.run(configure) && log.run({"cmake", "--build", build_.string(), "--parallel", "--target", target_});
  return done ? "" : log.last_lines();
}

fs::path OldTree::build(const std::string& commit, const Words& options) const {
  const bool fresh = !check_out(commit);
  if (fresh) make_worktree(commit);
  std::string complaint = built(options);
  if (!complaint.empty() && !fresh) {
    std::cerr << "the build kept in " << build_.string() << " does not go on: starting afresh\n";
    make_worktree(commit);
    complaint = built(options);
  }
  if (!complaint.empty())
    throw std::runtime_error("commit " + commit + " does not build; the last lines of " + log_.string() + ":\n" +
                             complaint);
  return build_ / program_;
}

}  // namespace tally::command_line
