#include "reports/command_line/verify/configuration.hpp"

#include <fstream>
#include <map>

#include "reports/command_line/part.hpp"

namespace tally::command_line {
namespace {

constexpr const char* carried[] = {"CMAKE_BUILD_TYPE",
                                   "CMAKE_CXX_COMPILER",
                                   "CMAKE_CXX_COMPILER_LAUNCHER",
                                   "CMAKE_CXX_FLAGS",
                                   "CMAKE_CUDA_COMPILER",
                                   "CMAKE_CUDA_COMPILER_LAUNCHER",
                                   "CMAKE_CUDA_FLAGS",
                                   "CMAKE_CUDA_ARCHITECTURES",
                                   "CMAKE_PREFIX_PATH",
                                   "CUDAToolkit_ROOT",
                                   "TALLY_CHECKED_COMPILER",
                                   "TALLY_CUDA",
                                   "TALLY_SANITIZE",
                                   "tally_DIR"};

/// NAME:TYPE=VALUE, one a line.
std::map<std::string, std::string> entries_of(const std::filesystem::path& cache) {
  std::map<std::string, std::string> entries;
  std::ifstream in(cache);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':'), equals = line.find('=', colon == std::string::npos ? 0 : colon);
    if (line.starts_with("#") || line.starts_with("//") || colon > equals || equals == std::string::npos) continue;
    entries[line.substr(0, colon)] = line.substr(equals + 1);
  }
  return entries;
}

}  // namespace

/// What verifies is the program `tally` of any commit; of the lab there are commits without.
BuiltProgram built_program_at(const std::filesystem::path& given) {
  const std::filesystem::path file =
      given.filename() == program_of(Part::lab) ? given.parent_path() / program_of(Part::verify) : given;
  for (auto folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    if (!std::filesystem::exists(folder / "CMakeCache.txt")) continue;
    const auto entries = entries_of(folder / "CMakeCache.txt");
    const auto source = entries.find("CMAKE_HOME_DIRECTORY");
    return {folder, file.lexically_relative(folder), file.filename(), source == entries.end() ? "" : source->second};
  }
  return {file.parent_path().parent_path(), "reports/tally", "tally", ""};
}

std::vector<std::string> configuration_of(const std::filesystem::path& build_folder) {
  const auto entries = entries_of(build_folder / "CMakeCache.txt");
  std::vector<std::string> options;
  if (!entries.contains("tally_DIR")) options.push_back("-DBUILD_TESTING=OFF");
  if (const auto generator = entries.find("CMAKE_GENERATOR"); generator != entries.end())
    options.insert(options.end(), {"-G", generator->second});
  for (const char* name : carried)
    if (const auto entry = entries.find(name); entry != entries.end() && !entry->second.empty())
      options.push_back("-D" + entry->first + "=" + entry->second);
  if (!entries.contains("CMAKE_BUILD_TYPE")) options.push_back("-DCMAKE_BUILD_TYPE=Release");
  return options;
}

}  // namespace tally::command_line
