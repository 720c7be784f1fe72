#include "reports/command_line/verify/kept_programs.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "reports/record/record.hpp"
#include "reports/text/sha256.hpp"

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

int locked(const fs::path& file) {
  const int lock = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
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

KeptPrograms::~KeptPrograms() { close(lock_); }

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

}  // namespace tally::command_line
