#include "reports/command_line/command.hpp"

#include <map>

#include "oracle/registered_files.hpp"

namespace tally::command_line {
namespace {
std::multimap<int, Command>& registry() {
  static std::multimap<int, Command> all;
  return all;
}

std::vector<Requirement>& required() {
  static std::vector<Requirement> all;
  return all;
}
}  // namespace

RegisterCommand::RegisterCommand(Command command, std::source_location at) {
  note_registered(at);
  registry().emplace(command.place, std::move(command));
}

std::vector<const Command*> commands() {
  std::vector<const Command*> all;
  for (const auto& [place, command] : registry()) all.push_back(&command);
  return all;
}

RegisterRequirement::RegisterRequirement(Requirement requirement, std::source_location at) {
  note_registered(at);
  required().push_back(requirement);
}

std::vector<Requirement> requirements() { return required(); }

}  // namespace tally::command_line
