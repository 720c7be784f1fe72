#include "reports/command_line/verify/old_build.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/verify/child.hpp"
#include "reports/command_line/verify/configuration.hpp"
#include "reports/command_line/verify/kept_programs.hpp"
#include "reports/command_line/verify/old_tree.hpp"

namespace tally::command_line {
namespace {

namespace fs = std::filesystem;

BuiltProgram built_program_here() { return built_program_at(fs::read_symlink("/proc/self/exe")); }

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
  const std::string program = (folder / built_program_here().file).string();
  if (access(program.c_str(), X_OK) != 0)
    throw UsageError("--against: " + program + " is no program; expected a folder that " + built_program_here().target +
                     " was built in");
  return program;
}

/// A hook that git runs finds these set to the repository it works on, and so would every git in here.
void forget_hook() {
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}) unsetenv(name);
}

}  // namespace

fs::path default_cache() { return built_program_here().folder / "against"; }

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
  const BuiltProgram now = built_program_here();
  const auto options = configuration_of(now.folder);
  auto kept_by = options;  // programs of several targets may share a folder
  if (now.target != "tally") kept_by.push_back(now.target);
  const KeptPrograms kept(cache);
  program_ = kept.find(commit, kept_by);
  if (!program_.empty()) return;
  std::cerr << "building " << what << " (" << commit.substr(0, 12) << ") in " << cache.string() << "\n";
  program_ = kept.keep(OldTree(cache, repository, now).build(commit, options), commit, kept_by);
}

}  // namespace tally::command_line
