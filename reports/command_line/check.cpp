// `tally check`: judge a recorded trace.
#include <iostream>

#include "kernels/subject/trace.hpp"
#include "oracle/case/io.hpp"
#include "properties/compare/bound_terms.hpp"
#include "properties/compare/lens.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/generators/plan.hpp"
#include "reports/command_line/commands.hpp"
#include "reports/command_line/stage_table.hpp"
#include "reports/command_line/suspect_list.hpp"

namespace tally::command_line {
namespace {

Trace trace_of(const CheckOptions& options, const Case& c) {
  try {
    return read_trace(options.trace_file, c);
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
}

}  // namespace

int check(const CheckOptions& options) {
  const Case c = read_case_file(options.case_file);
  const Trace trace = trace_of(options, c);
  std::vector<TensorCheck> checks = local_lens(c, trace);
  for (TensorCheck& found : end_to_end_lens(c, trace)) checks.push_back(std::move(found));
  split_bounds(c, trace, checks);
  std::cout << title_of(c) << "\n" << stage_table(checks) << suspect_list(diagnose(c, trace, checks));
  const int code = exit_code_of(checks);
  std::cout << (code == pass     ? "pass"
                : code == failed ? "fail"
                                 : "not judged: taps are missing or everything is vacuous")
            << "\n";
  return code;
}

}  // namespace tally::command_line
