// A command of `tally`: its name, what --help says of it, its options, and what it does; and the parser made of all.
// One file a command, in commands/; it registers itself.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "oracle/registered_files.hpp"

namespace tally::command_line {

/// What there is to do once the arguments are read; returns the exit code.
using Action = std::function<int()>;

struct Command {
  /// Where --help shows it, behind all lower places: from 100 what runs cases, from 200 what holds results against
  /// others, from 300 what renders results, from 400 studies, from 500 what there is. No two share a place.
  int place = 0;
  std::string name;  // "verify"; "baseline show" is a command of the command "baseline"
  std::string help;
  /// Adds its options to the parser of the command; the action reads what they were given. None for a command that has
  /// commands of its own.
  std::function<Action(CLI::App& command)> bind = nullptr;
  /// What runs the action, which throws nothing, where the program should not by itself
  /// (reports/command_line/verify/kept_run.hpp).
  int (*around)(const Action& action) = nullptr;
};

using RegisterCommand = Register<Command>;
inline int key_of_record(const Command& command) { return command.place; }

/// All commands, by place.
std::vector<const Command*> commands();

/// For Command::bind: options that are made anew for every parser; `add` binds them to it, `run` reads them.
template <class Options>
std::function<Action(CLI::App&)> with_options(void (*add)(CLI::App&, Options&), int (*run)(const Options&)) {
  return [add, run](CLI::App& command) -> Action {
    const auto options = std::make_shared<Options>();
    add(command, *options);
    return [run, options] { return run(*options); };
  };
}

// The program's parser, made of all registered commands.

/// What the arguments ask for; no command before they are parsed.
struct Chosen {
  const Command* command = nullptr;
  Action action;
};

/// Parsing sets `chosen`, which must outlive the parser. Options have their defaults, whatever was parsed before.
std::unique_ptr<CLI::App> parser_of_commands(Chosen& chosen);

}  // namespace tally::command_line
