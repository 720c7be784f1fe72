// All commands, and the parser made of them.
#include "reports/command_line/command.hpp"

#include "reports/command_line/part.hpp"

namespace tally::command_line {

std::vector<const Command*> commands() { return all_records<Command>(); }

namespace {

/// "baseline show" is added to "baseline", which has a lower place.
void add(CLI::App& program, const Command& command, Chosen& chosen) {
  const auto space = command.name.find(' ');
  const bool is_below = space != std::string::npos;
  CLI::App& parent = is_below ? *program.get_subcommand(command.name.substr(0, space)) : program;
  CLI::App& parser = *parent.add_subcommand(is_below ? command.name.substr(space + 1) : command.name, command.help);
  if (!command.bind) {
    parser.require_subcommand(1);
    return;
  }
  parser.callback([&chosen, &command, action = command.bind(parser)] { chosen = {&command, action}; });
}

/// Empty where this program has all parts.
std::string larger_parts() {
  std::string names;
  for (const std::string& name : commands_beyond_this_part()) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? ""
                       : "In a checkout of Tally, ./tally builds and runs what knows more commands:\n" + names + ".\n";
}

}  // namespace

std::unique_ptr<CLI::App> parser_of_commands(Chosen& chosen) {
  auto program =
      std::make_unique<CLI::App>("tally: do the accumulated micro-batches give the update of the full batch?", "tally");
  program->set_version_flag("--version", "tally " TALLY_VERSION);
  program->require_subcommand(1);
  program->footer(larger_parts() +
                  "Exit codes: 0 pass, 1 failed, 2 usage or input error, 3 environment or internal error,\n"
                  "4 nothing ran or all of it vacuous, 5 only unblessed new cases, 77 device absent, 130 interrupted.");
  for (const Command* command : commands()) add(*program, *command, chosen);
  return program;
}

}  // namespace tally::command_line
