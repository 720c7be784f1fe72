// `tally oracle`: the exact answer.
#include <iostream>

#include "oracle/case/io.hpp"
#include "oracle/window/answer.hpp"
#include "reports/command_line/commands.hpp"
#include "reports/command_line/output.hpp"
#include "reports/record/recognise.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line {

int oracle(const OracleOptions& options) {
  if (!options.out.empty() && !may_be_replaced_by_answer(options.out))
    throw UsageError("--out: " + options.out +
                     ": found something else than an exact answer; expected no file, or one "
                     "that this command wrote");
  const std::string answer = tally::oracle::answer(read_case_file(options.case_file), options.digits);
  if (options.out.empty()) {
    print_document(answer);
  } else {
    write_atomically(options.out, answer);
  }
  return pass;
}

}  // namespace tally::command_line
