#include "reports/command_line/check/silent_stages.hpp"

#include <algorithm>

#include "reports/text/numbers.hpp"

namespace tally::command_line {
namespace {

struct Stage {
  std::string name;
  bool heard = false;                   // an end-to-end check that says something
  const TensorCheck* silent = nullptr;  // one that says nothing, lost to underflow if one is
};

bool is_lost(const TensorCheck& check) { return check.got == 0 && check.expected != 0; }

std::vector<Stage> judged_stages(const std::vector<TensorCheck>& checks) {
  std::vector<Stage> stages;
  for (const TensorCheck& check : checks) {
    if (check.lens != "end_to_end" || check.zero_signal || check.elements == 0) continue;
    auto at = std::find_if(stages.begin(), stages.end(), [&](const Stage& stage) { return stage.name == check.stage; });
    if (at == stages.end()) at = stages.insert(at, {check.stage, false, nullptr});
    const bool vacuous = check.status == Status::vacuous;
    at->heard = at->heard || !vacuous;
    if (vacuous && (at->silent == nullptr || is_lost(check) > is_lost(*at->silent))) at->silent = &check;
  }
  return stages;
}

/// Why a check is vacuous, and whether a loss scale would help.
std::string reason_of(const TensorCheck& check) {
  if (check.norm_bound < check.norm_expected && check.adopted_share > 0)
    return percent(check.adopted_share) +
           " of the decisions behind it are the run's own, as their bounds leave them open";
  const std::string reason = "its bounds together, " + significant(check.norm_bound) + ", exceed its values, " +
                             significant(check.norm_expected);
  return is_lost(check) ? reason + "; lost to underflow, which a loss scale prevents" : reason;
}

}  // namespace

std::string silent_stages(const std::vector<TensorCheck>& checks) {
  std::string names;
  const TensorCheck* first = nullptr;
  for (const Stage& stage : judged_stages(checks)) {
    if (stage.heard) continue;
    names += (names.empty() ? "" : ", ") + stage.name;
    if (first == nullptr || is_lost(*stage.silent) > is_lost(*first)) first = stage.silent;
  }
  if (first == nullptr) return "";
  return "judged step by step alone, as every check of them that follows the run from the case on is vacuous: " +
         names + "; " + first->tap + ": " + reason_of(*first) + "\n";
}

}  // namespace tally::command_line
