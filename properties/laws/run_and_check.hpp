// What most laws share: run a case, judge what it left, hold rows of it against the full batch or another run.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device/launch_paths.hpp"
#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "properties/laws/judge.hpp"
#include "properties/laws/law.hpp"

namespace tally {

// What most laws share: run a case, judge what it left, and let whoever watches read what the run was.

/// A run, which ways its launches went, how long each operation took, and what the lenses say of it.
struct CheckedRun {
  // Defined once, in run_and_check.cpp: most files that hold one would compile their own copy of these.
  CheckedRun();
  CheckedRun(const CheckedRun&);
  CheckedRun(CheckedRun&&) noexcept;
  CheckedRun& operator=(const CheckedRun&);
  CheckedRun& operator=(CheckedRun&&) noexcept;
  ~CheckedRun();

  Trace trace;
  std::set<LaunchPath> paths;
  std::map<std::string, double> seconds;  // by operation, as KernelClock counts them
  Outcome outcome;
};

/// Runs the case and judges its trace. What the options cannot run gives not_run with its reason, and no trace.
CheckedRun run_and_check(const Case& c, const RunOptions& options);

/// Is told of what laws check on this thread, for as long as it lives, in order. Several may watch.
class RunObserver {
 public:
  RunObserver();
  virtual ~RunObserver();
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;

  /// A run of `c` that is judged; not called for one that could not be made. The outcome is still to come.
  virtual void see_run(const Case& c, const CheckedRun& run) = 0;
  /// Launches of kernels that a law makes and judges by itself.
  virtual void see_launches(ExecutorKind, const std::set<LaunchPath>&) {}
  /// A law did what this trigger names, and no run tells.
  virtual void see_trigger(std::string_view) {}
};

void tell_launches(ExecutorKind executor, const std::set<LaunchPath>& paths);
void tell_trigger(std::string_view name);

// A case against its full batch.

/// Both runs judged by themselves, then against each other: the windows' gradients and parameters differ by no more than
/// both bounds together, and the exact gradients not at all. `gap`: the sentence where they do. Not settled; not run
/// where the subject cannot run them.
Outcome against_full_batch(const Case& c, const RunOptions& subject, const std::string& gap);

// What laws over rows require: rows of every activation and of its gradient keep their bits, whatever others hold; and
// how others come to hold something else.

/// In the first window, of the stages forward, loss, backward and fork: every tensor that has a row for every row of
/// its micro-batch, parameters and their gradients aside, holds the same bits in both traces (±0 as one value) where
/// `rows` says so, which has an entry for every row of the case. What no kernel promises is left out. Whether anything
/// was held: a law that held nothing has shown nothing.
[[nodiscard]] bool require_equal_rows(Outcome& outcome, const Case& c, const Trace& expected, const Trace& got,
                                      const std::vector<bool>& rows, const std::string& message);

/// The case with another token in each row that `rows` says so of, of a model over two tokens and more.
Case with_other_tokens(Case c, const std::vector<bool>& rows);

// Rows of one run where another run of the same rows has them: padded, or cut otherwise into micro-batches.

/// The taps of the first window that have a row for each row of their micro-batch, from `got`, a trace of `other`, as
/// `c` has them: row i of `c` is row `places[i]` of `other`. Taps of which `got` lacks a part are left out.
Trace rows_as_in(const Case& c, const Trace& expected, const Case& other, const Trace& got,
                 const std::vector<std::int64_t>& places);

// How many items the micro-batches of a case hold.

/// n_k of every micro-batch of a window.
std::vector<double> items_of(const Case& c, std::size_t window);

/// Whether all micro-batches of every window have the same items: then the mean of means would pass too.
bool has_equal_items(const Case& c);

}  // namespace tally
