// Options of `tally gate`, and the half of it that runs two builds.
// Defined in against.cpp.
#pragma once

#include <string>
#include <vector>

#include "reports/command_line/verify/defaults.hpp"

namespace tally::command_line {

struct GateOptions {
  std::string results, baseline, waivers;
  std::string today;  // day that waivers are held against; empty: today

  std::string against;  // a revision or a build folder: runs the campaign below with both, in place of results
  std::string pending;  // file for what could be blessed; empty: pending.json beside the results
  bool all = false;     // every finding, not what fits on a screen

  std::string cache;  // where builds of revisions are kept; empty: in this program's build folder
  std::string law = "*", precisions, seed = defaults::seed, subject, out;
  std::vector<std::string> kernels, kernels_in_both;  // operation=variant, of this build's runs or of both builds'
  double effort = defaults::effort;
  int processes = defaults::processes, repeat = 1;  // pairs of runs
};

/// `tally gate --against`: the same campaign by two builds, in turn, held against each other case by case.
int gate_against(const GateOptions& options);

}  // namespace tally::command_line
