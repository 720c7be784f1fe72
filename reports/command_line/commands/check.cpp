// `tally check`: judge a recorded trace.
#include <iostream>
#include <set>
#include <thread>

#include "kernels/trace/trace.hpp"
#include "kernels/trace/trace_findings.hpp"
#include "oracle/case/io.hpp"
#include "properties/compare/ahead.hpp"
#include "properties/diagnosis/judged_capture.hpp"
#include "properties/generators/plan.hpp"
#include "reports/command_line/capture_progress.hpp"
#include "reports/command_line/capture_room.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/silent_stages.hpp"
#include "reports/command_line/stage_table.hpp"
#include "reports/command_line/suspect_list.hpp"
#include "reports/record/capture_json.hpp"

namespace tally::command_line {
namespace {

struct CheckOptions {
  std::string case_file, trace_file, lens = "all";
  bool json = false;
};

std::string verdict_of(int code) { return code == pass ? "pass" : code == failed ? "fail" : "not_judged"; }

std::size_t bytes_in(const Trace& trace) {
  std::size_t all = 0;
  for (const Tap& tap : trace.taps()) all += tap.value.bytes.size();
  return all;
}

Trace trace_of(const CheckOptions& options, const Case& c) {
  try {
    return read_trace(options.trace_file, c);
  } catch (const InvalidTrace&) {
    throw;
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
}

std::string group_lines(const std::vector<std::string>& groups) {
  std::string text;
  for (const std::string& group : groups) text += (text.empty() ? "judged as one: " : ", ") + group;
  return text.empty() ? "" : text + "\n";
}

std::string note_lines(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

/// The stages that left too few taps to judge, each once.
std::string missing_line(const std::vector<TensorCheck>& checks) {
  std::string text;
  std::set<std::string> named;
  for (const TensorCheck& check : checks) {
    if (check.status != Status::not_run || !named.insert(check.stage).second) continue;
    text += (text.empty() ? "too few taps to judge: " : ", ") + check.stage + " (" + check.tap + ")";
  }
  return text.empty() ? "" : text + "\n";
}

void print(const Case& c, const JudgedCapture& judged, int code) {
  std::cout << title_of(c) << "\n"
            << stage_table(judged.checks) << group_lines(judged.groups) << missing_line(judged.checks)
            << silent_stages(judged.checks) << suspect_list(judged.suspects) << note_lines(judged.notes)
            << (code == pass     ? "pass"
                : code == failed ? "fail"
                                 : "not judged: taps are missing or everything is vacuous")
            << "\n";
}

int check(const CheckOptions& options) {
  const Case c = read_case_file(options.case_file);
  const Trace trace = trace_of(options, c);
  const bool all_lenses = options.lens == "all";
  if (all_lenses) require_room(c, free_memory());
  set_threads_of_a_case(static_cast<int>(std::thread::hardware_concurrency()));
  CaptureProgress progress(bytes_in(trace));
  JudgedCapture judged = judged_capture(
      c, trace, {all_lenses, [&](std::size_t bytes, const std::string& tap) { progress.show(bytes, tap); }});
  const int code = exit_code_of(judged.checks);
  if (options.json) {
    print_document(
        to_json(CaptureRecord{verdict_of(code), trace.case_hash, c.name, options.lens, std::move(judged.groups),
                              std::move(judged.checks), std::move(judged.suspects), std::move(judged.notes)}));
  } else {
    print(c, judged, code);
  }
  return code;
}

void add_options(CLI::App& command, CheckOptions& options) {
  command.add_option("case", options.case_file, "case file")->required();
  command.add_option("trace", options.trace_file, "trace, a safetensors file")->required();
  command
      .add_option("--lens", options.lens,
                  "all, or local: each stage from its own inputs alone, in little memory, and no cause")
      ->check(CLI::IsMember({"all", "local"}))
      ->capture_default_str();
  command.add_flag("--json", options.json, "print one JSON document instead of the table");
}

const RegisterCommand registered{{
    .place = 130,
    .name = "check",
    .help = "judge a recorded trace of a case",
    .bind = with_options(add_options, check),
}};

}  // namespace
}  // namespace tally::command_line
