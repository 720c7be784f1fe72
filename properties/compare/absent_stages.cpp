#include "properties/compare/absent_stages.hpp"

#include <algorithm>
#include <array>

#include "kernels/trace/stage_place.hpp"
#include "properties/compare/lens.hpp"

namespace tally {
namespace {

bool is_input(const std::string& tensor) { return tensor.starts_with("in."); }

/// Whether what a stage left may reach another, itself in the next micro-batch included.
bool precedes(const TapName& a, const TapName& b) {
  if (a.window != b.window) return a.window < b.window;
  if (a.stage == "checkpoint" && is_input(a.tensor)) return false;  // it is written down behind all others
  const bool in_time = a.micro_batch < 0 || b.micro_batch < 0 || a.micro_batch <= b.micro_batch;
  return in_time && place_of_stage(a.stage) <= place_of_stage(b.stage);
}

constexpr std::array<std::string_view, 3> by_layer{"forward", "backward", "running_stats"};
constexpr std::array<std::string_view, 7> stages_of_all{"count",          "loss",   "fork",    "norm",
                                                        "overflow_check", "scaler", "schedule"};

bool is_one_of(const auto& stages, const std::string& stage) {
  return std::find(stages.begin(), stages.end(), stage) != stages.end();
}

/// What the stage works on here: "fc1" of "in.fc1.weight" where it works by layer, "fc1.weight" of
/// "in.momentum.fc1.weight" where it works by parameter; empty where it works on all at once.
std::string object_of(const TapName& name) {
  const auto last = name.tensor.rfind('.');
  if (last == std::string::npos || is_one_of(stages_of_all, name.stage)) return "";
  const bool layer = is_one_of(by_layer, name.stage);
  const std::string rest = layer ? name.tensor.substr(0, last) : name.tensor;
  const auto before = rest.rfind('.', layer ? std::string::npos : last - 1);
  if (before != std::string::npos) return rest.substr(before + 1);
  return name.tensor.starts_with("in.") ? "" : rest;  // "in.norm"
}

/// Whether the stage left anything of what this tap is about.
bool left_something(const Trace& trace, const TapName& missing) {
  const std::string object = object_of(missing);
  return std::any_of(trace.taps().begin(), trace.taps().end(), [&](const Tap& tap) {
    const bool same_run = tap.name.window == missing.window && tap.name.micro_batch == missing.micro_batch &&
                          tap.name.stage == missing.stage;
    return same_run && !is_input(tap.name.tensor) && (object.empty() || object_of(tap.name) == object);
  });
}

/// An output, or an input of a stage that left no output either.
bool is_missing_work(const Trace& trace, const TensorCheck& check) {
  if (check.status != Status::not_run || check.lens != "local") return false;
  const TapName name = tap_name_of(check.tap);
  return is_input(name.tensor) ? !left_something(trace, name) : true;
}

}  // namespace

void name_absent_stage(const Trace& trace, std::vector<TensorCheck>& checks) {
  const TensorCheck* failure = first_failure(checks);
  if (failure == nullptr || failure->lens == "relation") return;
  const TapName at = tap_name_of(failure->tap);
  const auto absent = std::find_if(checks.begin(), checks.end(), [&](const TensorCheck& check) {
    return is_missing_work(trace, check) && precedes(tap_name_of(check.tap), at);
  });
  if (absent == checks.end()) return;
  TensorCheck named = *absent;
  named.status = Status::fail;
  named.failure = FailureClass::logic;
  named.over_bound = 1;
  checks.erase(absent);
  const auto first = std::find_if(checks.begin(), checks.end(), [](const TensorCheck& check) {
    return check.status == Status::fail || check.status == Status::error;
  });
  checks.insert(first, std::move(named));
}

bool is_absent(const TensorCheck& check) {
  return check.lens == "local" && check.status == Status::fail && check.elements == 0 && check.over_bound == 1;
}

}  // namespace tally
