// Which source files registered something at program start. A test compares this with the files on disk, so a
// registration that the linker dropped or the author forgot is a failure that names the file.
#pragma once

#include <set>
#include <source_location>
#include <string>

namespace tally {

/// Notes the file of a registration (called by every Register* constructor).
void note_registered(std::source_location at);

/// All files noted so far, as the compiler named them.
std::set<std::string> registered_files();

}  // namespace tally
