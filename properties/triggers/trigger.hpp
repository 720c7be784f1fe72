// A trigger: one thing that a case, a kernel call or a run must show before a known kind of bug can be seen. Each row
// of triggers is one file; it registers itself.
#pragma once

#include <source_location>
#include <string>
#include <vector>

#include "properties/triggers/sight.hpp"

namespace tally {

/// `of_case`: drawn with the case; `of_kernel`: a size of a kernel's call; `of_run`: what was done with the case;
/// `later`: this program cannot show it yet, for the reason given.
enum class TriggerKind { of_case, of_kernel, of_run, later };
std::string_view word_of(TriggerKind kind);

struct Trigger {
  std::string name;
  TriggerKind kind = TriggerKind::of_case;
  std::string description;  // when it counts as seen; of `later` ones, why not yet
  /// Whether a judged run shows it. Empty: nothing in a run does, and whoever does it says so (note_trigger).
  bool (*seen)(const Sight& sight) = nullptr;
  std::string group = {};
};

/// The triggers of one group; groups are listed by `row`.
struct RegisterTriggers {
  RegisterTriggers(int row, const std::string& group, std::vector<Trigger> triggers,
                   std::source_location at = std::source_location::current());
};

/// All triggers, by row, then in the order in which they stand in their file.
const std::vector<Trigger>& triggers();

}  // namespace tally
