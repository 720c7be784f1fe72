#include "oracle/registered_files.hpp"

#include <vector>

namespace tally {
namespace {

/// Names as the compiler laid them down: a program that starts has better to do than to sort them.
std::vector<const char*>& noted() {
  static std::vector<const char*> all;
  return all;
}

}  // namespace

void note_registered(std::source_location at) { noted().push_back(at.file_name()); }

std::set<std::string> registered_files() { return {noted().begin(), noted().end()}; }

}  // namespace tally
