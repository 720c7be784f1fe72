#include "oracle/registered_files.hpp"

namespace tally {
namespace {
std::set<std::string>& files() {
  static std::set<std::string> all;
  return all;
}
}  // namespace

void note_registered(std::source_location at) { files().insert(at.file_name()); }

const std::set<std::string>& registered_files() { return files(); }

}  // namespace tally
