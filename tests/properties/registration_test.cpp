// Every file that holds a registration record did register when this program started.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "oracle/registered_files.hpp"

namespace tally {
namespace {

namespace fs = std::filesystem;

const fs::path root = TALLY_SOURCE_DIR;

/// True where a line of the text, comments left out, defines a record such as `const RegisterLaw registered{…}`.
bool holds_record(const std::string& text) {
  static const std::regex record(R"((^|\n)[^/\n]*\bRegister[A-Za-z]*(<[^\n]*>)? registered)");
  return std::regex_search(text, record);
}

/// Paths below `root` of the sources with a record.
std::set<std::string> files_with_record() {
  std::set<std::string> found;
  for (const char* folder : {"oracle", "kernels", "properties"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const auto ending = entry.path().extension();
      if (ending != ".cpp" && ending != ".cu") continue;
      std::ifstream file(entry.path());
      std::ostringstream text;
      text << file.rdbuf();
      if (holds_record(text.str())) found.insert(fs::relative(entry.path(), root).generic_string());
    }
  }
  return found;
}

/// Paths below `root` of the files that registered something.
std::set<std::string> registered() {
  std::set<std::string> found;
  for (const auto& name : registered_files()) {
    const fs::path path = name;
    std::string below = path.is_absolute() ? fs::relative(path, root).generic_string() : path.generic_string();
    while (below.starts_with("../")) below.erase(0, 3);  // a compiler cache may name it from the build folder
    found.insert(below);
  }
  return found;
}

TEST(Registration, recognises_a_record_and_no_comment_about_one) {
  EXPECT_TRUE(holds_record("int a;\nconst RegisterKernel registered_forward(\"gelu.forward\", run);\n"));
  EXPECT_TRUE(holds_record("const Register<LayerNorm, Pass> registered{{}};\n"));
  EXPECT_FALSE(holds_record("// const RegisterLaw registered{law};\n"));
  EXPECT_FALSE(holds_record("RegisterLaw::RegisterLaw(Law law) {}\n"));
}

TEST(Registration, every_file_with_a_record_registered) {
  const auto on_disk = files_with_record();
  const auto in_program = registered();

  ASSERT_FALSE(on_disk.empty()) << "no file below " << root << " holds a record";
  for (const auto& path : on_disk) EXPECT_TRUE(in_program.contains(path)) << path << " holds a record that is lost";
}

TEST(Registration, every_registered_file_holds_a_record_that_a_reader_finds) {
  const auto on_disk = files_with_record();

  for (const auto& path : registered()) {
    if (path.starts_with("tests/")) continue;
    EXPECT_TRUE(on_disk.contains(path)) << path << " registered without a line `Register… registered`";
  }
}

}  // namespace
}  // namespace tally
