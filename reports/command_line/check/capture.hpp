// What is said of a judged capture: all of it as a record, tables for a terminal, what is left open; and of the
// judging, how much memory it takes and how far it is. Defined in capture.cpp, stage_table.cpp, not_judged.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/trace/recorder_notes.hpp"
#include "oracle/case/case.hpp"
#include "oracle/layers/claim.hpp"
#include "properties/diagnosis/judged_capture.hpp"
#include "reports/record/capture_json.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line {

// All that is said of a judged capture, gathered once for the terminal, the document and the page.

/// By the checks; a pass of dead steps shows nothing.
int exit_code_of(const JudgedCapture& judged);

/// The exit code's verdict is taken from the checks. The gap to the full batch is evaluated, but for the local lens alone.
CaptureRecord capture_record(const Case& c, const Trace& trace, bool all_lenses, JudgedCapture judged,
                             std::vector<std::string> assumptions, const std::map<std::string, CodePlace>& places = {});

/// The same for a terminal, with the verdict at its end: of a failure what is wrong and what to change, where, and what
/// fails first. With `all_figures` hexadecimal numbers, what bounds are made of and every way that a tensor was judged.
std::string capture_text(const CaptureRecord& capture, bool all_figures);

// How a subject says that it computes, for people.

/// A line for what differs from the defaults, then one a kernel operation: "norm: numpy, same bits each time, height 64".
/// A hundred operations at most, and how many more.
std::vector<std::string> claims_in_short(const Claims& claims);

// What the lenses found, stage by stage, for a terminal.

/// A line a stage (in order of first appearance): checks, failures, vacuous ones, the worst error / bound; then the failing
/// tensors by their worst elements; where none fails, the one nearest to its limit. With `all_figures` the end-to-end
/// checks beside the others, hexadecimal numbers, and what each bound is made of.
std::string stage_table(const std::vector<TensorCheck>& checks, bool all_figures);

/// The exit code of a set of checks: 1 when one failed, 4 when nothing passed or something did not run, else 0. State
/// that the last step left for a next one, which the capture does not hold, need not have run.
int exit_code_of(const std::vector<TensorCheck>& checks);

// Suspects for a terminal.

/// A line a suspect, the likeliest first: its name, its share, its sentence and its formula. Empty for an empty list.
std::string suspect_list(const std::vector<Suspicion>& suspects);

// Tensors of a capture of which nothing is shown: every comparison of them is vacuous.

/// The first window whose parameters after the step are there and are none of them shown: nor is its step. Nothing where
/// there is no such window.
std::optional<int> window_not_shown(const std::vector<TensorCheck>& checks);

/// One sentence without a full stop, or an empty text: such a window, else how many tensors are not shown, with the name
/// of the first and its numbers, or that missing taps leave open what it is to hold.
std::string not_shown(const std::vector<TensorCheck>& checks);

// What a judged capture leaves open, and why.

/// A sentence each, without a full stop: layers that the capture gives, stages with too few taps, stages whose end-to-end
/// checks are all vacuous, and what the local lens alone does not ask.
std::vector<std::string> not_judged(const Case& c, const std::vector<TensorCheck>& checks, bool all_lenses);

// What a pass does not say: stages whose end-to-end checks are all vacuous.

/// One line that names the stages of which every end-to-end check of a value that is not exactly zero is vacuous (its
/// bounds exceed its values, or too many decisions behind it are the run's own), with one such tensor; empty
/// where there are none. Such a stage is known only step by step: from what came in, it computed what it should.
std::string silent_stages(const std::vector<TensorCheck>& checks);

// What judging a capture by all lenses takes of memory, told before the work starts.

/// Bytes that the end-to-end lens holds at once, from above but for what a rule takes on its way: a value and a bound of
/// every parameter, its state, copy, buffer, gradient and sum, and of the activations of the largest micro-batch.
std::uint64_t bytes_of_all_lenses(const Case& c);
/// As the system says: without taking it from anybody. Nothing where it does not say.
std::uint64_t free_memory();
/// Throws UsageError where that is more than `available`.
void require_room(const Case& c, std::uint64_t available);

// How far the judging of a large capture is, on standard error.

/// "[120/301] MB of the trace, w0/m1/backward/d.fc2.weight, 40 s left". Nothing of a trace that is judged in a moment.
class CaptureProgress {
 public:
  explicit CaptureProgress(std::size_t bytes_in_all);
  /// So many bytes are done, this tap last.
  void show(std::size_t bytes, const std::string& tap);

 private:
  std::size_t all_, next_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// The line of such a moment.
std::string progress_line(std::size_t bytes, std::size_t all, const std::string& tap, double seconds);

}  // namespace tally::command_line
