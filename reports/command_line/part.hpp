// The parts of Tally, each a program that holds those before it: what judges recordings, what draws cases and trains
// them, and the lab of faults and studies.
#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/command_line/output.hpp"

namespace tally::command_line {

enum class Part { check, verify, lab };

/// Files of a part that bring something register it.
struct RegisterPart {
  explicit RegisterPart(Part part, std::source_location at = std::source_location::current());
};

/// The largest that this program holds.
Part part();

/// "tally-check", "tally", "tally-lab".
std::string program_of(Part part);

/// Which part has a command, by the first word of its name. Made by CMake from the files' places.
const std::vector<std::pair<std::string_view, Part>>& commands_of_parts();

/// First words of the commands of all parts, and of those that larger parts have; sorted, each once.
std::vector<std::string> command_names();
std::vector<std::string> commands_beyond_this_part();

/// What a larger part would know. The program hands over to it where it stands beside.
class BeyondThisPart : public UsageError {
 public:
  BeyondThisPart(Part where, const std::string& what);
  const Part where;
};

/// Throws BeyondThisPart for the first word of a command that a larger part has, and this program has not.
void require_within_this_part(const std::string& command);

/// Replaces this process by the larger program of the same folder. Returns where there is none. A file there that is no
/// program of this build is left alone: what it is, is returned.
std::string hand_over(Part to, char** argv);

}  // namespace tally::command_line
