// What `tally explain` can say, by name: of laws, faults, suspects. Each kind stands in the part that knows it.
#pragma once

#include <source_location>
#include <string>
#include <vector>

namespace tally::command_line {

struct Explained {
  int place = 0;  // what several kinds have a name for is said in this order
  std::vector<std::string> (*names)() = nullptr;
  /// Prints what there is to say of that name; false where the kind has none such.
  bool (*explain)(const std::string& name) = nullptr;
};

struct RegisterExplained {
  explicit RegisterExplained(Explained kind, std::source_location at = std::source_location::current());
};

/// All kinds, by place.
std::vector<Explained> explained_kinds();

/// "a, b, c"; "none" for an empty list.
std::string listed_or_none(const std::vector<std::string>& words);

}  // namespace tally::command_line
