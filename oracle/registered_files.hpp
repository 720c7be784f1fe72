// What registers itself at program start: which source files did, records by their name or place, and one record a
// kind.
#pragma once

#include <map>
#include <set>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally {

// Which source files registered something at program start. A test compares this with the files on disk, so a
// registration that the linker dropped or the author forgot is a failure that names the file.

/// Names as the compiler laid them down: a program that starts has better to do than to sort them.
inline std::vector<const char*>& noted_files() {
  static std::vector<const char*> all;
  return all;
}

/// Notes the file of a registration (called by the constructors of Register and its like).
inline void note_registered(std::source_location at) { noted_files().push_back(at.file_name()); }

/// All files noted so far, as the compiler named them.
inline std::set<std::string> registered_files() { return {noted_files().begin(), noted_files().end()}; }

// A record of any type, registered at program start by the file that it stands in: no list names the records there are.
//
//   const Register<PublishedRule> registered{{.name = "PyTorch assert_close", …}};

/// What records of a type are sorted and found by; another function may stand beside the type.
template <class Record>
const std::string& key_of_record(const Record& record) {
  return record.name;
}

/// All records of a type. Function-local, so that registrations of other files may run before this one's.
template <class Record>
auto& records() {
  using Key = std::remove_cvref_t<decltype(key_of_record(std::declval<const Record&>()))>;
  static std::map<Key, Record, std::less<>> all;
  return all;
}

/// What becomes of a record; another function may stand beside the type. Throws std::logic_error for a key that is taken.
template <class Record>
void enter_record(Record record, std::source_location at) {
  auto key = key_of_record(record);
  if (!records<Record>().try_emplace(std::move(key), std::move(record)).second)
    throw std::logic_error(std::string(at.file_name()) + ": a record whose name or place another record has");
}

template <class Record>
struct Register {
  explicit Register(Record record, std::source_location at = std::source_location::current()) {
    note_registered(at);
    enter_record(std::move(record), at);
  }
};

template <class Record>
std::vector<const Record*> all_records() {
  std::vector<const Record*> all;
  for (const auto& [key, record] : records<Record>()) all.push_back(&record);
  return all;
}

/// nullptr where no file registered it.
template <class Record>
const Record* find_record(std::string_view name) {
  const auto found = records<Record>().find(name);
  return found == records<Record>().end() ? nullptr : &found->second;
}

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
