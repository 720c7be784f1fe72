#include "reports/command_line/check/installation.hpp"

#include <fstream>

namespace tally::command_line {
namespace {

namespace fs = std::filesystem;

/// The nearest folder above that CMake configured; empty where there is none.
fs::path build_of(const fs::path& program) {
  for (fs::path folder = program.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (fs::exists(folder / "CMakeCache.txt")) return folder;
  return {};
}

/// Whether Debian's package of that name says that it put the program there.
bool is_of_package(const fs::path& program, const fs::path& root) {
  std::ifstream files(root / "var/lib/dpkg/info/tally.list");
  for (std::string line; std::getline(files, line);)
    if (line == program.string()) return true;
  return false;
}

}  // namespace

std::string installation_of(const fs::path& program, const fs::path& root) {
  const fs::path folder = program.parent_path(), prefix = folder.parent_path();
  if (fs::exists(folder / "__init__.py")) return "wheel, in " + folder.string();
  if (const fs::path build = build_of(program); !build.empty()) return "build, in " + build.string();
  if (is_of_package(program, root)) return "Debian package, in " + prefix.string();
  if (fs::exists(prefix / "share/tally/digits.csv")) return "cmake --install, in " + prefix.string();
  return "copy, in " + folder.string();
}

}  // namespace tally::command_line
