#include "reports/command_line/part.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "oracle/case/tensors/regular_file.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"

namespace tally::command_line {
namespace {

constexpr std::size_t most_bytes = std::size_t{4} << 30;  // of a program, debugging symbols and all
constexpr std::size_t longest_name = 64;

std::string sentence(Part where, const std::string& what) {
  return what + ": not in the part of Tally that this program is; expected " + program_of(where) +
         " beside it, which `./tally` builds in a checkout";
}

/// "commit 0123456789ab": what stands in a program's build_mark, behind its beginning.
std::string named_in(std::string_view program) {
  const std::string_view own = build_mark;
  const std::string_view beginning = own.substr(0, own.find('[') + 1);
  const std::size_t at = program.find(beginning);
  if (at == std::string_view::npos) return "no program of Tally";
  const std::string_view rest = program.substr(at + beginning.size(), own.size() + longest_name);
  return "a program of " + std::string(rest.substr(0, rest.find(']')));
}

/// Empty where that program was built from the same sources as this one.
std::string other_build(const std::filesystem::path& program) {
  std::string found;
  try {
    const std::string bytes = RegularFile(program).all(most_bytes);
    if (bytes.find(build_mark) != std::string::npos) return {};
    found = named_in(bytes);
  } catch (const std::runtime_error& problem) {
    found = problem.what();
  }
  const std::string_view own = build_mark;
  const std::string_view named = own.substr(own.find('[') + 1);
  return program.string() + ": found " + found + ", expected one of " + std::string(named.substr(0, named.find(']'))) +
         ", as this program is: build both again, or remove it";
}

}  // namespace

Part part() { return all_records<PartRecord>().back()->part; }

std::string program_of(Part part) {
  constexpr const char* names[] = {"tally-check", "tally", "tally-lab"};
  return names[static_cast<int>(part)];
}

BeyondThisPart::BeyondThisPart(Part to, const std::string& what) : UsageError(sentence(to, what)), where(to) {}

std::vector<std::string> command_names() {
  std::set<std::string> names;
  for (const auto& [name, where] : commands_of_parts()) names.emplace(name);
  for (const Command* command : commands()) names.insert(command->name.substr(0, command->name.find(' ')));
  return {names.begin(), names.end()};
}

std::vector<std::string> commands_beyond_this_part() {
  std::set<std::string> names;
  for (const auto& [name, where] : commands_of_parts())
    if (where > part()) names.emplace(name);
  return {names.begin(), names.end()};
}

void require_within_this_part(const std::string& command) {
  for (const auto& [name, where] : commands_of_parts())
    if (name == command && where > part()) throw BeyondThisPart(where, command);
}

std::string hand_over(Part to, char** argv) {
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  for (const Part larger : {Part::verify, Part::lab}) {
    const std::filesystem::path program = own.parent_path() / program_of(larger);
    if (larger < to || program == own) continue;
    if (access(program.c_str(), X_OK) != 0) continue;
    if (const std::string other = other_build(program); !other.empty()) return other;
    argv[0] = const_cast<char*>(program.c_str());
    execv(program.c_str(), argv);
  }
  return {};
}

}  // namespace tally::command_line
