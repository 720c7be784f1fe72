// `tally oracle`: the exact answer.
#include <iostream>

#include "oracle/case/contract.hpp"
#include "oracle/exact/answer.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/record/files.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line::oracle_command {
namespace {

struct OracleOptions {
  std::string case_file, out;
  unsigned digits = 30;
};

int oracle(const OracleOptions& options) {
  if (!options.out.empty() && !may_be_replaced_by_answer(options.out))
    throw UsageError("--out: " + options.out +
                     ": found something else than an exact answer; expected no file, or one that this command wrote");
  const Case c = case_in(options.case_file);
  require_stated(c);
  const std::string answer = tally::oracle::answer(c, options.digits);
  if (options.out.empty()) {
    print_document(answer);
  } else {
    write_atomically(options.out, answer);
  }
  return pass;
}

void add_options(CLI::App& command, OracleOptions& options) {
  command.add_option("case", options.case_file, "case file")->required();
  command.add_option("--digits", options.digits, "significant digits")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  command.add_option("--out", options.out, "file to write instead of standard output");
}

const RegisterCommand registered{{
    .place = 140,
    .name = "oracle",
    .help = "print the exact answer to a case",
    .bind = with_options(add_options, oracle),
}};

}  // namespace
}  // namespace tally::command_line::oracle_command
