// `tally check`: judge a recorded trace.
#include <iostream>
#include <thread>

#include "kernels/trace/recorder_notes.hpp"
#include "kernels/trace/trace.hpp"
#include "kernels/trace/trace_findings.hpp"
#include "properties/diagnosis/judged_capture.hpp"
#include "properties/judge/ordered_parts.hpp"
#include "properties/judge/pieces.hpp"
#include "reports/capture/page.hpp"
#include "reports/command_line/check/capture.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/record/files.hpp"

namespace tally::command_line::check_command {
namespace {

struct CheckOptions {
  std::string case_file, trace_file, out, lens = "all";
  bool json = false, verbose = false;
};

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

std::shared_ptr<const WholeModel> whole_model_in(const std::string& trace_file, const Case& c) {
  try {
    return std::make_shared<const WholeModel>(whole_model_of(sums_of_squares_of(trace_file, c)));
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
}

std::map<std::string, CodePlace> places_in(const std::string& trace_file) {
  try {
    return places_of(trace_file);
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
}

/// Before hours of work, not after.
void require_out(const std::string& out) {
  if (out.empty()) return;
  require_replaceable(out, {"check.json", "report.html"});
  require_writable(out);
}

void require_not_swapped(const CheckOptions& options) {
  if (!begins_as_safetensors(options.case_file) || begins_as_safetensors(options.trace_file)) return;
  throw UsageError(options.case_file +
                   ": found a safetensors file, expected a case, which is JSON; the two files may " +
                   "be swapped: first the case, then the trace");
}

int check(const CheckOptions& options) {
  require_not_swapped(options);
  const Case c = case_in(options.case_file);
  Trace trace = trace_of(options, c);
  trace.whole_model = whole_model_in(options.trace_file, c);
  const bool all_lenses = options.lens == "all";
  const std::map<std::string, CodePlace> places = places_in(options.trace_file);
  if (all_lenses && !is_judged_in_pieces(c)) require_room(c, free_memory());
  require_out(options.out);
  set_threads_of_a_case(static_cast<int>(std::thread::hardware_concurrency()));
  CaptureProgress progress(bytes_in(trace));
  JudgedCapture judged =
      judged_capture(c, trace,
                     {all_lenses, [&](std::size_t bytes, const std::string& tap) { progress.show(bytes, tap); },
                      seen_causes_of(options.trace_file)});
  const int code = exit_code_of(judged);
  const CaptureRecord capture =
      capture_record(c, trace, all_lenses, std::move(judged), assumptions_of(options.trace_file), places);
  if (options.json) {
    print_document(to_json(capture));
  } else {
    std::cout << capture_text(capture, options.verbose);
  }
  if (!options.out.empty()) write_together(capture_files(capture, options.out));
  return code;
}

void add_options(CLI::App& command, CheckOptions& options) {
  command.add_option("case", options.case_file, "case file")->required();
  command.add_option("trace", options.trace_file, "trace, a safetensors file")->required();
  command
      .add_option("--lens", options.lens,
                  "all, or local: each stage by its own inputs only, in little memory and without a cause; the capture "
                  "must hold the inputs of every stage")
      ->check(CLI::IsMember({"all", "local"}))
      ->capture_default_str();
  command.add_flag("--verbose", options.verbose,
                   "with hexadecimal numbers, the terms of each bound, and every lens that judged a tensor");
  command.add_flag("--json", options.json, "print one JSON document instead of the table");
  command.add_option("--out", options.out, "folder for report.html, a page, and check.json, what --json prints");
}

const RegisterCommand registered{{
    .place = 130,
    .name = "check",
    .help = "judge a recorded trace of a case",
    .bind = with_options(add_options, check),
}};

}  // namespace
}  // namespace tally::command_line::check_command
