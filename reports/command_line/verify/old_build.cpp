// The program as it was at another revision.
#include "reports/command_line/verify/old_build.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "reports/command_line/output.hpp"
#include "reports/record/record.hpp"
#include "reports/text/stored_text.hpp"

namespace tally::command_line {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_kept = 8, commit_digits = 12, option_digits = 8;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string hash_of(const fs::path& file) { return hex(sha256_digest(content_of(file))) + "\n"; }

Descriptor locked(const fs::path& file) {
  Descriptor lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (lock < 0) throw std::runtime_error(file.string() + " cannot be opened: " + std::strerror(errno));
  if (flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  std::cerr << "waiting for the run that builds in " << file.parent_path().string() << "\n";
  while (flock(lock, LOCK_EX) != 0)
    if (errno != EINTR) throw std::runtime_error(file.string() + " cannot be locked: " + std::strerror(errno));
  return lock;
}

}  // namespace

KeptPrograms::KeptPrograms(const fs::path& folder) : folder_(fs::absolute(folder)) {
  fs::create_directories(folder_ / "programs");
  lock_ = locked(folder_ / "lock");
}

fs::path KeptPrograms::place_of(const std::string& commit, const std::vector<std::string>& options) const {
  std::string text;
  for (const std::string& option : options) text += option + "\n";
  return folder_ / "programs" /
         (commit.substr(0, commit_digits) + "-" + hex(sha256_digest(text)).substr(0, option_digits));
}

std::string KeptPrograms::find(const std::string& commit, const std::vector<std::string>& options) const {
  const fs::path place = place_of(commit, options);
  if (!fs::exists(place)) return "";
  if (content_of(place / "sha256") == hash_of(place / "tally")) {
    fs::last_write_time(place, fs::file_time_type::clock::now());
    return (place / "tally").string();
  }
  std::cerr << place.string() << " is damaged: building it again\n";
  fs::remove_all(place);
  return "";
}

std::string KeptPrograms::keep(const fs::path& program, const std::string& commit,
                               const std::vector<std::string>& options) const {
  const fs::path place = place_of(commit, options);
  fs::create_directories(place);
  fs::copy_file(program, place / "tally", fs::copy_options::overwrite_existing);
  write_atomically((place / "sha256").string(), hash_of(place / "tally"));
  forget_oldest();
  return (place / "tally").string();
}

void KeptPrograms::forget_oldest() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> kept;
  for (const auto& entry : fs::directory_iterator(folder_ / "programs"))
    kept.emplace_back(entry.last_write_time(), entry.path());
  std::sort(kept.rbegin(), kept.rend());
  for (std::size_t i = most_kept; i < kept.size(); ++i) fs::remove_all(kept[i].second);
}

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
