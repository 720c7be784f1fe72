// `tally greet`: a sample of a command.
#include <iostream>

#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"

namespace tally::command_line::greet_command {
namespace {

struct GreetOptions {
  std::string name = "world";
};

int greet(const GreetOptions& options) {
  std::cout << "hello, " << options.name << "\n";
  return pass;
}

void add_options(CLI::App& command, GreetOptions& options) {
  command.add_option("name", options.name, "whom to greet");
}

const RegisterCommand registered{{
    .place = 990,
    .name = "greet",
    .help = "a sample of a command",
    .bind = with_options(add_options, greet),
}};

}  // namespace
}  // namespace tally::command_line::greet_command
