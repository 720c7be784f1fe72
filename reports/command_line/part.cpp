#include "reports/command_line/part.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "oracle/registered_files.hpp"

namespace tally::command_line {
namespace {

Part& largest() {
  static Part found = Part::check;
  return found;
}

std::string sentence(Part where, const std::string& what) {
  return what + ": not in the part of Tally that this program is; expected " + program_of(where) +
         " beside it, which `./tally` builds in a checkout";
}

}  // namespace

RegisterPart::RegisterPart(Part part, std::source_location at) {
  note_registered(at);
  largest() = std::max(largest(), part);
}

Part part() { return largest(); }

std::string program_of(Part part) {
  constexpr const char* names[] = {"tally-check", "tally", "tally-lab"};
  return names[static_cast<int>(part)];
}

BeyondThisPart::BeyondThisPart(Part to, const std::string& what) : UsageError(sentence(to, what)), where(to) {}

void require_within_this_part(const std::string& command) {
  for (const auto& [name, where] : commands_of_parts())
    if (name == command && where > part()) throw BeyondThisPart(where, command);
}

void hand_over(Part to, char** argv) {
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  for (const Part larger : {Part::verify, Part::lab}) {
    const std::filesystem::path program = own.parent_path() / program_of(larger);
    if (larger < to || program == own) continue;
    argv[0] = const_cast<char*>(program.c_str());
    execv(program.c_str(), argv);
  }
}

}  // namespace tally::command_line
