// Whether every file that holds a registration record did register when a test program started.
#pragma once

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "oracle/registered_files.hpp"

namespace tally {

/// True where a line of the text, comments left out, defines a record such as `const RegisterLaw registered{…}`.
inline bool holds_record(const std::string& text) {
  static const std::regex record(R"((^|\n)[^/\n]*\bRegister[A-Za-z]*(<[^\n]*>)? registered)");
  return std::regex_search(text, record);
}

/// Paths below `root` of the sources in these folders of it that hold a record.
inline std::set<std::string> files_with_record(const std::filesystem::path& root,
                                               const std::vector<std::string>& folders) {
  std::set<std::string> found;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const auto ending = entry.path().extension();
      if (ending != ".cpp" && ending != ".cu") continue;
      std::ifstream file(entry.path());
      std::ostringstream text;
      text << file.rdbuf();
      if (holds_record(text.str())) found.insert(std::filesystem::relative(entry.path(), root).generic_string());
    }
  }
  return found;
}

/// Paths below `root` of the files that registered something.
inline std::set<std::string> files_that_registered(const std::filesystem::path& root) {
  std::set<std::string> found;
  for (const auto& name : registered_files()) {
    const std::filesystem::path path = name;
    std::string below =
        path.is_absolute() ? std::filesystem::relative(path, root).generic_string() : path.generic_string();
    while (below.starts_with("../")) below.erase(0, 3);  // a compiler cache may name it from the build folder
    found.insert(below);
  }
  return found;
}

}  // namespace tally
