// The commands of `tally`, one source file each. main.cpp reads the arguments; a command returns the exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/gate/bless.hpp"

namespace tally::command_line {

/// Exit codes, the same for every command.
enum Exit {
  pass = 0,
  failed = 1,
  usage = 2,
  environment = 3,
  nothing_ran = 4,
  only_new = 5,
  absent = 77,
  interrupted = 130
};

/// What the user gave is wrong: exit 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where and under what a case runs; shared by verify, replay and faults.
struct SubjectOptions {
  std::string subject;                    // "", "host", "cuda", "checked"; empty: the best device there is
  std::string fault;                      // a seeded fault to run with; empty: none
  std::vector<std::string> kernels = {};  // operation=variant, as registered: in place of the shipped ones
  double magnitude = 1;                   // how much of the fault is planted, 0 to 1
};

struct VerifyOptions {
  SubjectOptions subject;
  std::string law = "*", out = "tally-out", corpus, seed = "20240917";
  std::string kernel_times;  // a file for the times of kernels; empty: none
  std::vector<std::string> precisions = {"fp32", "fp16", "bf16"};
  double effort = 0;  // 0: TALLY_EFFORT, or 1
  std::optional<int> cases;
  std::string time;  // "60s", "2m"; empty: none
  std::string case_time = "2m";
  std::string shard;  // "2/4": the second of four parts; empty: all of it
  bool json = false, no_training = false, no_shrink = false, unsteered = false, keep_going = false;
  int processes = 2;
};
int verify(const VerifyOptions& options);

struct KernelOptions {
  std::string kernel, out = "tally-out/kernel";  // OPERATION=VARIANT; a folder a subject goes below `out`
  double effort = 0;                             // 0: TALLY_EFFORT, or 1; the watched run takes a part of it
  int processes = 2;
};
int kernel(const KernelOptions& options);

struct ReplayOptions {
  SubjectOptions subject;
  std::string what;  // token or case file
  std::string law;   // empty: the lenses alone, or the law in a kept case's file name
  std::string dump;  // folder for trace.safetensors and case.json
};
int replay(const ReplayOptions& options);

struct CheckOptions {
  std::string case_file, trace_file;
};
int check(const CheckOptions& options);

struct OracleOptions {
  std::string case_file, out;
  unsigned digits = 30;
};
int oracle(const OracleOptions& options);

struct FaultsOptions {
  SubjectOptions subject;
  std::vector<std::string> names;
  bool json = false;
  int processes = 2;
};
int faults(const FaultsOptions& options);

struct GateOptions {
  std::string results, baseline, waivers;
  std::string today;  // day that waivers are held against; empty: today

  std::string against;  // a revision or a build folder: runs the campaign below with both, in place of results
  std::string pending;  // file for what could be blessed; empty: pending.json beside the results
  bool all = false;     // every finding, not what fits on a screen

  std::string cache;  // where builds of revisions are kept; empty: in this program's build folder
  std::string law = "*", precisions, seed = "20240917", subject, out;
  std::vector<std::string> kernels;  // operation=variant, of this build's runs
  double effort = 0;                 // 0: TALLY_EFFORT, or 1
  int processes = 2, repeat = 1;     // pairs of runs
};
int gate(const GateOptions& options);
int gate_against(const GateOptions& options);

/// `tally bless`, and the commands of `tally baseline` that write.
struct BlessOptions {
  std::string results, baseline, reason, commit;
  std::string law = "*", precision = "*";
  std::vector<std::string> cases;
  bool allow_ci = false;
  BlessReport (*change)(const Results&, const std::string&, const tally::BlessOptions&) = tally::bless;
};
int bless(const BlessOptions& options);

/// The commands of `tally baseline` that read alone.
struct BaselineOptions {
  std::string baseline, results;  // results may be empty for show and verify
  std::string law = "*", precision = "*";
  std::string reason, commit;  // of a review
  bool all = false;            // of a diff: every finding
};
int baseline_show(const BaselineOptions& options);
int baseline_diff(const BaselineOptions& options);
int baseline_verify(const BaselineOptions& options);
/// Shows what could be blessed; with a reason asks about every law and precision that changed, on a terminal.
int baseline_review(const BaselineOptions& options);

struct CompareOptions {
  std::string before, now;  // results.json of each run, or its folder
  std::string out;          // folder for summary.md; empty: none
  bool all = false;         // every kernel and law, not what fits on a screen
};
int compare(const CompareOptions& options);

struct HistoryOptions {
  std::string history, results, commit;
};
int history_add(const HistoryOptions& options);
int history_show(const HistoryOptions& options);

/// `tally sweep NAME` and `tally bench NAME`.
struct StudyCommand {
  std::string family, name;  // "sweep" or "bench"; unknown names are a UsageError that lists the known ones
  SubjectOptions subject;
  double effort = 0;  // 0: TALLY_EFFORT, or 1
  std::string seed = "20240917", out = "tally-out";
  bool json = false;
  int processes = 2;
};
int study(const StudyCommand& command);

struct ReportOptions {
  std::string results, out, baseline;
  std::vector<std::string> studies, history;
};
int report(const ReportOptions& options);

struct MergeOptions {
  std::vector<std::string> shards;  // results.json of each, or its folder
  std::string out = "tally-out";
};
int merge(const MergeOptions& options);

struct ExplainOptions {
  std::string what;  // a case's id, or the name of a law, a fault or a suspect
  std::string results = "tally-out/results.json";
};
int explain(const ExplainOptions& options);

/// What is "laws", "faults", "triggers", "kernels", "subjects", "sweeps" or "benches".
int list(const std::string& what);
/// `probed` is "host", "cuda" or empty; `order` is to_string of the host's GemmOrder, or empty.
int doctor(const std::string& probed, const std::string& order);

}  // namespace tally::command_line
