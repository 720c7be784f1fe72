#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "reports/command_line/check/answers.hpp"

namespace tally::command_line {
namespace {

namespace fs = std::filesystem;

class Installation : public testing::Test {
 protected:
  Installation() {
    std::string name = (fs::temp_directory_path() / "tally-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~Installation() override { fs::remove_all(root_); }

  fs::path file(const std::string& name, const std::string& text = "") {
    const fs::path path = root_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  std::string of(const fs::path& program) { return installation_of(program, root_); }

  fs::path root_;
};

TEST_F(Installation, IsToldFromWhatStandsAround) {
  file("site-packages/tally_program/__init__.py");
  EXPECT_EQ(of(file("site-packages/tally_program/tally-check")),
            "wheel, in " + (root_ / "site-packages/tally_program").string());
  file("tree/build/no-cuda/CMakeCache.txt");
  EXPECT_EQ(of(file("tree/build/no-cuda/reports/tally")), "build, in " + (root_ / "tree/build/no-cuda").string());
  file("opt/share/tally/digits.csv");
  EXPECT_EQ(of(file("opt/bin/tally")), "cmake --install, in " + (root_ / "opt").string());
  EXPECT_EQ(of(file("somewhere/tally")), "copy, in " + (root_ / "somewhere").string());
}

TEST_F(Installation, OfThePackageIsOneThatItsListNames) {
  file("usr/share/tally/digits.csv");
  const fs::path program = file("usr/bin/tally");
  file("var/lib/dpkg/info/tally.list", "/.\n" + program.string() + "\n");
  EXPECT_EQ(of(program), "Debian package, in " + (root_ / "usr").string());
  file("var/lib/dpkg/info/tally.list", "/.\n" + program.string() + "s\n");
  EXPECT_EQ(of(program), "cmake --install, in " + (root_ / "usr").string());
}

}  // namespace
}  // namespace tally::command_line
