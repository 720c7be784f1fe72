// What registers itself at program start: which source files did, and one record a kind, looked up by its name.
#pragma once

#include <map>
#include <set>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tally {

// Which source files registered something at program start. A test compares this with the files on disk, so a
// registration that the linker dropped or the author forgot is a failure that names the file.

/// Notes the file of a registration (called by every Register* constructor).
void note_registered(std::source_location at);

/// All files noted so far, as the compiler named them.
std::set<std::string> registered_files();

// One record of a kind, registered at program start by the file of that kind and looked up by its name. No list of the
// kinds stands anywhere: a kind is added with its file.

template <class Record>
class RegisterKind {
 public:
  /// Throws std::logic_error for a kind that has its record already.
  RegisterKind(std::string_view kind, Record record, std::source_location at = std::source_location::current()) {
    note_registered(at);
    if (!all().emplace(kind, std::move(record)).second)
      throw std::logic_error("two records of the kind \"" + std::string(kind) + "\"");
  }

  /// The record of a kind of this section. Throws Error for one that no file registered; `what` says what is missing:
  /// "exact mathematics".
  template <class Error = std::logic_error>
  static const Record& of(std::string_view what, std::string_view section, std::string_view kind) {
    const auto found = all().find(kind);
    if (found == all().end())
      throw Error("no " + std::string(what) + " for the " + std::string(section) + " \"" + std::string(kind) + "\"");
    return found->second;
  }
  /// nullptr for a kind that no file registered.
  static const Record* find(std::string_view kind) {
    const auto found = all().find(kind);
    return found == all().end() ? nullptr : &found->second;
  }

 private:
  // Function-local, so that registrations of other files may run before this one's.
  static std::map<std::string, Record, std::less<>>& all() {
    static std::map<std::string, Record, std::less<>> records;
    return records;
  }
};

}  // namespace tally
