// `tally verify` as other commands call it; run.json, and what a run that is not the whole campaign says of launch
// paths.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "oracle/case/tensors/tensor.hpp"
#include "reports/command_line/verify/subject.hpp"
#include "reports/record/files.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line {

/// How many of its paths ran, for each kernel named as OPERATION=VARIANT, and a warning with those that did not; one
/// line for the others. Empty where the campaign promises to reach all.
std::string launch_path_words(const Results& results, const std::vector<std::string>& kernels);

// run.json: what of a run differs from time to time and machine to machine, kept out of results.json.

class RunFacts {
 public:
  /// The run starts now.
  RunFacts();
  /// run.json: clock, duration, host, command line and the hash of the results. `across`: JSON, who ran what of a
  /// campaign over machines; empty elsewhere.
  FileText file(const std::filesystem::path& folder, const std::string& results_json, int exit_code,
                const std::string& across = "") const;

 private:
  std::chrono::system_clock::time_point started_;
  std::chrono::steady_clock::time_point from_;
};

struct VerifyOptions {
  SubjectOptions subject;
  std::string law = "*", out = defaults::out, corpus, seed = defaults::seed;
  std::string kernel_times;  // a file for the times of kernels; empty: none
  std::vector<std::string> precisions = names_of(storage_formats());
  double effort = defaults::effort;
  std::optional<int> cases;
  std::string time;  // "60s", "2m"; empty: none
  std::string case_time = defaults::case_time;
  std::string shard;  // "2/4": the second of four parts; empty: all of it
  bool json = false, no_training = false, no_shrink = false, unsteered = false, keep_going = false;
  int processes = defaults::processes;
  std::string across;      // "mpi": with the processes that a launcher of MPI started beside this one; empty: alone
  std::string resume;      // the folder of a campaign over machines that was ended: go on with it; empty: begin
  std::string lost_after;  // "60s": a process of such a campaign that is silent for longer is lost
};
int verify(const VerifyOptions& options);

}  // namespace tally::command_line
