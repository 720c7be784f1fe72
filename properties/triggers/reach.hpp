// What a campaign must reach beyond the triggers, made from the program itself: every setting of a case, every declared
// size below, at and above every edge, and every way of every kernel's launch in
// each of its precisions.
#pragma once

#include <set>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/device/launch_paths.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/triggers.hpp"

namespace tally {

/// The records of kind "setting" or "option", by their places in settings(), then "size" and "path" ("later" where a
/// launch says that it is out of reach), none seen yet. An executor's kernels are its own.
const std::vector<TriggerRecord>& records_to_reach(ExecutorKind executor);

/// Their places in records_to_reach(): settings and sizes of the case, paths that its launches took.
std::set<std::size_t> reached_by(ExecutorKind executor, const Case& c, const std::set<LaunchPath>& paths);

std::set<std::size_t> paths_reached(ExecutorKind executor, const std::set<LaunchPath>& paths);

/// "layer_norm.forward/two_pass, fp32: a warp a row: a row's last stride cut".
std::string name_of_path(const LaunchPath& path);

/// All paths of the kernels that ship for an executor, sorted.
std::set<LaunchPath> launch_paths_of(ExecutorKind executor);

}  // namespace tally
