// `tally verify` as other commands call it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/case/formats.hpp"
#include "reports/command_line/verify/defaults.hpp"
#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line {

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
