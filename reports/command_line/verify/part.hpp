// What `tally list` prints of kinds that only the lab knows, which registers it.
#pragma once

#include <source_location>
#include <string_view>

namespace tally::command_line {

struct RegisterListed {
  RegisterListed(std::string_view kind, void (*print)(), std::source_location at = std::source_location::current());
};

/// nullptr outside of the lab.
void (*listed_in_lab(std::string_view kind))();

}  // namespace tally::command_line
