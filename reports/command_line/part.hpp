// The parts of Tally, each a program that holds those before it: what judges recordings, what draws cases and trains
// them, and the lab of faults and studies.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oracle/registered_files.hpp"
#include "reports/command_line/output.hpp"

namespace CLI {
class App;
}

namespace tally::command_line {

enum class Part { check, verify, lab };

/// A kind of things that `tally explain` can say something of: laws, faults, suspects.
struct Explained {
  int place = 0;  // what several kinds have a name for is said in this order
  std::vector<std::string> (*names)() = nullptr;
  /// Prints what there is to say of that name; false where the kind has none such.
  bool (*explain)(const std::string& name) = nullptr;
};

/// What a part brings: a `Register<PartRecord>` of each.
struct PartRecord {
  Part part;
  std::vector<Explained> explained = {};
  /// What `tally list` prints, by word, of kinds that no smaller part knows.
  std::map<std::string_view, void (*)()> listed = {};
  /// What `tally doctor` says besides, with options of its own.
  std::function<std::function<int()>(CLI::App& command)> examination = nullptr;
  /// What must hold before any command runs; throws UsageError.
  void (*requirement)() = nullptr;
};
inline Part key_of_record(const PartRecord& record) { return record.part; }

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
