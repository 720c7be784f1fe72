#include "reports/command_line/verify/listed.hpp"

#include <map>

#include "oracle/registered_files.hpp"

namespace tally::command_line {
namespace {

std::map<std::string_view, void (*)()>& printers() {
  static std::map<std::string_view, void (*)()> all;
  return all;
}

}  // namespace

RegisterListed::RegisterListed(std::string_view kind, void (*print)(), std::source_location at) {
  note_registered(at);
  printers().emplace(kind, print);
}

void (*listed_in_lab(std::string_view kind))() {
  const auto found = printers().find(kind);
  return found == printers().end() ? nullptr : found->second;
}

}  // namespace tally::command_line
