// Which of the failing checks a verdict names: the cause, as far as the order of the data tells.
#include <algorithm>
#include <array>

#include "kernels/trace/stage_group.hpp"
#include "kernels/trace/stage_place.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "properties/compare/lens.hpp"

namespace tally {
namespace {

bool fails(const TensorCheck& check) { return check.status == Status::fail || check.status == Status::error; }

/// Checks of a trace's taps; those of a relation between runs carry sentences.
bool is_of_a_tap(const TensorCheck& check) {
  return check.lens == "local" || check.lens == "group" || check.lens == "end_to_end";
}

/// Whether a check's stage is this one, or a group of stages of one window that holds it.
bool judges_stage(const TensorCheck& check, const std::string& stage) {
  const auto dots = check.stage.find("..");
  if (dots == std::string::npos) return check.stage == stage;
  return StageGroup{check.stage.substr(0, dots), check.stage.substr(dots + 2)}.holds(stage);
}

/// The end-to-end lens carries every bound from the case on: where stages are judged on bits of their own, that tells
/// more.
const TensorCheck* most_telling(const std::vector<TensorCheck>& checks, const TensorCheck* first) {
  if (first->lens != "end_to_end") return first;
  const TapName at = tap_name_of(first->tap);
  for (const TensorCheck& check : checks) {
    const bool nearer = check.lens == "local" || check.lens == "group";
    if (!nearer || !fails(check) || !judges_stage(check, at.stage)) continue;
    const TapName other = tap_name_of(check.tap);
    if (other.window == at.window && other.rank == at.rank) return &check;
  }
  return first;
}

/// What a tensor belongs to within its stage, and its turn there: a tensor of a later turn is computed from those
/// before it.
struct Turn {
  std::string of;
  int turn = 0;
};

/// An optimizer's state comes before the parameter that it moves.
Turn state_first(const std::string& tensor) {
  const std::string_view parameter = parameter_of_state(tensor);
  return parameter.empty() ? Turn{tensor, 1} : Turn{std::string(parameter), 0};
}

Turn before_suffix(const std::string& tensor, std::initializer_list<const char*> suffixes) {
  int turn = 0;
  for (const std::string suffix : suffixes) {
    if (tensor.ends_with(suffix)) return {tensor.substr(0, tensor.size() - suffix.size()), turn};
    ++turn;
  }
  return {tensor, turn};
}

Turn turn_of(const TapName& name) {
  if (name.stage == "forward") return before_suffix(name.tensor, {".mean", ".var", ".rstd", ".y"});
  if (name.stage == "sync_statistics") return before_suffix(name.tensor, {".count", ".mean", ".var", ".rstd"});
  if (name.stage == "optimizer") return state_first(name.tensor);
  return {name.tensor, 0};
}

/// Batch norm's gradient of x is computed from the sums that its parameters' gradients are; no other layer's is.
bool sums_come_first(const std::vector<TensorCheck>& checks, const TapName& dx, const TapName& other) {
  if (dx.stage != "backward" || !dx.tensor.ends_with(".x")) return false;
  const std::string label = dx.tensor.substr(0, dx.tensor.size() - 2);  // "d.bn1"
  if (other.tensor != label + ".weight" && other.tensor != label + ".bias") return false;
  const std::string var = "/forward/" + label.substr(2) + ".var";
  return std::any_of(checks.begin(), checks.end(), [&](const auto& check) { return check.tap.ends_with(var); });
}

bool together(const TapName& a, const TapName& b) {
  const bool of_all = a.micro_batch < 0 || b.micro_batch < 0;
  return a.window == b.window && a.rank == b.rank && a.stage == b.stage && (of_all || a.micro_batch == b.micro_batch);
}

/// Two runs that differ were not compared where they parted: a stage that is wrong by itself, there or before, is why.
const TensorCheck* own_failure(const std::vector<TensorCheck>& checks, const TensorCheck& between) {
  const auto parted = tap_view_of(between.tap);
  for (const TensorCheck& check : checks) {
    if (!parted || !fails(check) || check.lens != "local") continue;
    const TapName own = tap_name_of(check.tap);
    if (own.window < parted->window ||
        (own.window == parted->window && place_of_stage(own.stage) <= place_of_stage(parted->stage)))
      return &check;
  }
  return &between;
}

}  // namespace

const TensorCheck* first_failure(const std::vector<TensorCheck>& checks) {
  const auto found = std::find_if(checks.begin(), checks.end(), fails);
  if (found == checks.end()) return nullptr;
  const TensorCheck* first = is_of_a_tap(*found) ? &*found : own_failure(checks, *found);
  if (!is_of_a_tap(*first)) return first;
  const TensorCheck* cause = most_telling(checks, first);
  for (const TensorCheck& check : checks) {
    if (!fails(check) || check.lens != cause->lens || check.tap == cause->tap) continue;
    const TapName now = tap_name_of(cause->tap), other = tap_name_of(check.tap);
    if (!together(now, other)) continue;
    const Turn its = turn_of(other), own = turn_of(now);
    if ((its.of == own.of && its.turn < own.turn) || sums_come_first(checks, now, other)) cause = &check;
  }
  return cause;
}

}  // namespace tally
