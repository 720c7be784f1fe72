// `tally hash`: what a trace names its case by.
#include <iostream>

#include "oracle/case/io.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"

namespace tally::command_line::hash_command {
namespace {

struct HashOptions {
  std::string case_file;
};

int hash(const HashOptions& options) {
  std::cout << hash_of(case_in(options.case_file)) << "\n";
  return pass;
}

void add_options(CLI::App& command, HashOptions& options) {
  command.add_option("case", options.case_file, "case file")->required();
}

const RegisterCommand registered{{
    .place = 145,
    .name = "hash",
    .help = "print the hash of a case, which a trace of it holds",
    .bind = with_options(add_options, hash),
}};

}  // namespace
}  // namespace tally::command_line::hash_command
