#include "reports/command_line/old_build.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "reports/command_line/child.hpp"
#include "reports/command_line/configuration.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/kept_programs.hpp"
#include "reports/command_line/old_tree.hpp"

namespace tally::command_line {
namespace {

namespace fs = std::filesystem;

/// Of this program: it lies in reports/ there.
fs::path build_folder() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path(); }

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

std::string built_program(const fs::path& folder) {
  const std::string program = (folder / "reports" / "tally").string();
  if (access(program.c_str(), X_OK) != 0)
    throw UsageError("--against: " + program + " is no program; expected a folder that Tally was built in");
  return program;
}

/// A hook that git runs finds these set to the repository it works on, and so would every git in here.
void forget_hook() {
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}) unsetenv(name);
}

}  // namespace

fs::path default_cache() { return build_folder() / "against"; }

fs::path temporary_folder() {
  std::string name = (fs::temp_directory_path() / "tally-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made: " + name);
  return name;
}

OldBuild::OldBuild(const std::string& what, const fs::path& cache) {
  if (fs::is_directory(what)) {
    program_ = built_program(what);
    return;
  }
  const std::string repository = repository_here();
  forget_hook();
  const std::string commit = commit_of(repository, what);
  const auto options = configuration_of(build_folder());
  const KeptPrograms kept(cache);
  program_ = kept.find(commit, options);
  if (!program_.empty()) return;
  std::cerr << "building " << what << " (" << commit.substr(0, 12) << ") in " << cache.string() << "\n";
  program_ = kept.keep(OldTree(cache, repository).build(commit, options), commit, options);
}

}  // namespace tally::command_line
