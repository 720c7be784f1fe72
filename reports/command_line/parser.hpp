// The program's parser, made of all registered commands.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "reports/command_line/command.hpp"

namespace tally::command_line {

/// What the arguments ask for; no command before they are parsed.
struct Chosen {
  const Command* command = nullptr;
  Action action;
};

/// Parsing sets `chosen`, which must outlive the parser. Options have their defaults, whatever was parsed before.
std::unique_ptr<CLI::App> parser_of_commands(Chosen& chosen);

}  // namespace tally::command_line
