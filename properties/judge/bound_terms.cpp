// Which bounds are split into terms, which steps a trace shows, and which tensors repeat bit for bit.
#include "properties/judge/bound_terms.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string_view>

#include "kernels/trace/stage_group.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lenses/walk.hpp"

namespace tally {
namespace {

constexpr std::size_t kept_checks = 5;

/// Taps of one lens whose bounds can be split.
std::set<std::string> wanted_of(const std::string& lens, const std::vector<const TensorCheck*>& checks) {
  std::set<std::string> taps;
  for (const TensorCheck* check : checks) {
    const bool finite = check->bound > 0 && check->bound < std::numeric_limits<double>::infinity();
    if (check->lens == lens && finite) taps.insert(check->tap);
  }
  return taps;
}

void take_over_split(std::vector<TensorCheck>& checks, const std::vector<TensorCheck>& split) {
  for (const TensorCheck& found : split) {
    if (found.terms.sum() == 0) continue;
    for (TensorCheck& check : checks) {
      if (check.lens == found.lens && check.tap == found.tap && check.bound == found.bound) check.terms = found.terms;
    }
  }
}

}  // namespace

std::vector<std::size_t> worst_of(const std::vector<TensorCheck>& checks) {
  std::vector<std::size_t> order(checks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) {
    return checks[i].status != Status::fail && !(checks[i].status == Status::pass && checks[i].worst_ratio > 0);
  });
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const TensorCheck &a = checks[i], &b = checks[j];
    const bool fails_a = a.status == Status::fail, fails_b = b.status == Status::fail;
    return fails_a != fails_b ? fails_a : a.worst_ratio > b.worst_ratio;
  });
  const bool failed = !order.empty() && checks[order.front()].status == Status::fail;
  order.resize(std::min(order.size(), failed ? kept_checks : std::size_t{1}));
  return order;
}

void split_bounds(const Case& c, const Trace& trace, std::vector<TensorCheck>& checks) {
  std::vector<const TensorCheck*> chosen;
  for (const std::size_t i : worst_of(checks)) chosen.push_back(&checks[i]);
  if (const TensorCheck* failure = first_failure(checks)) chosen.push_back(failure);
  for (const Lens lens : {Lens::local, Lens::end_to_end, Lens::group}) {
    const auto wanted = wanted_of(word_of(lens), chosen);
    if (wanted.empty()) continue;
    Walk walk(c, trace, lens);
    walk.wanted = &wanted;
    if (lens != Lens::local) walk.know_local(checks);
    walk_all(walk);
    take_over_split(checks, walk.checks);
  }
}

// Which of the failing checks a verdict names: the cause, as far as the order of the data tells.
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

/// Checks of stages on their own bits tell more than the end-to-end lens, which carries every bound from the case on.
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
  if (name.stage == StageName::forward) return before_suffix(name.tensor, {".mean", ".var", ".rstd", ".y"});
  if (name.stage == StageName::sync_statistics) return before_suffix(name.tensor, {".count", ".mean", ".var", ".rstd"});
  if (name.stage == StageName::optimizer) return state_first(name.tensor);
  return {name.tensor, 0};
}

/// Batch norm's gradient of x is computed from the sums that its parameters' gradients are; no other layer's is.
bool sums_come_first(const std::vector<TensorCheck>& checks, const TapName& dx, const TapName& other) {
  if (dx.stage != StageName::backward || !dx.tensor.ends_with(".x")) return false;
  const std::string label = dx.tensor.substr(0, dx.tensor.size() - 2);  // "d.bn1"
  if (other.tensor != label + ".weight" && other.tensor != label + ".bias") return false;
  const std::string var = "/forward/" + label.substr(2) + ".var";
  return std::any_of(checks.begin(), checks.end(), [&](const auto& check) { return check.tap.ends_with(var); });
}

bool together(const TapName& a, const TapName& b) {
  const bool of_all = a.micro_batch < 0 || b.micro_batch < 0;
  return a.window == b.window && a.rank == b.rank && a.stage == b.stage && (of_all || a.micro_batch == b.micro_batch);
}

/// Two runs that differ: the cause is a stage that is wrong by itself, at that place or before it.
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

namespace {

/// Windows that the trace says were skipped.
std::set<int> skipped_windows(const Trace& trace) {
  std::set<int> skipped;
  for (const Tap& tap : trace.taps())
    if (tap.name.stage == StageName::overflow_check && tap.name.tensor == "found" && tap.value.integer(0) != 0)
      skipped.insert(tap.name.window);
  return skipped;
}

bool has_an_item(const Case& c, int window) {
  std::int64_t row = first_row(c, static_cast<std::size_t>(window));
  for (const std::int64_t size : c.windows[static_cast<std::size_t>(window)])
    for (const std::int64_t end = row + size; row < end; ++row)
      if (item_weight(c, row).to_double() != 0) return true;
  return false;
}

bool all_gradients_are_zero(const std::vector<TensorCheck>& checks) {
  std::size_t gradients = 0;
  for (const TensorCheck& check : checks) {
    if (check.lens != "end_to_end" || check.stage != StageName::unscale) continue;
    if (!check.zero_signal) return false;
    ++gradients;
  }
  return gradients > 0;
}

std::string listed(const std::set<int>& windows) {
  std::string text = windows.size() == 1 ? "window" : "windows";
  std::string before = " ";
  for (const int window : windows) text += before + std::to_string(window), before = ", ";
  return text;
}

}  // namespace

std::string dead_steps(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks) {
  const std::set<int> skipped = skipped_windows(trace);
  std::set<int> stepped;
  for (int window = 0; window < static_cast<int>(c.windows.size()); ++window)
    if (!skipped.contains(window)) stepped.insert(window);
  if (stepped.empty()) return "";
  const bool counts = std::ranges::any_of(stepped, [&](int window) { return has_an_item(c, window); });
  if (counts && !all_gradients_are_zero(checks)) return "";
  std::string text = "every gradient that a step took is exactly zero: dead runs agree whatever they compute";
  if (!skipped.empty()) text += "; " + listed(skipped) + " overflowed, without a step";
  if (!counts)
    text +=
        "; no row " + (skipped.empty() ? "" : "of " + listed(stepped) + " ") + "counts, as each is ignored or weighs 0";
  return text;
}

std::string steps_not_taken(const Case& c, const Trace& trace) {
  if (skipped_windows(trace).size() < c.windows.size()) return "";
  std::string text = "unscale";
  if (c.recipe.clip.kind != kinds::none) text += ", clip";
  if (c.recipe.weight_decay.kind != kinds::none) text += ", weight decay";
  return text + " and the optimizer's step";
}

namespace {

bool took(const Trace& trace, std::string_view stage) {
  return std::any_of(trace.taps().begin(), trace.taps().end(), [&](const Tap& tap) { return tap.name.stage == stage; });
}

}  // namespace

PromisedBits::PromisedBits(const Trace& trace) {
  for (const auto& [operation, claim] : trace.claims.kernels) {
    if (claim.repeats == Repeats::bitwise || (operation == "norm" && !took(trace, "norm"))) continue;
    without_ += (without_.empty() ? "" : ", ") + operation + " by " + claim.variant;
    const bool of_backward = operation == "attention.backward" || operation == "embedding.gradient";
    bool& promise = operation == "linear.bias_gradient" ? bias_gradients_
                    : of_backward                       ? backward_
                    : operation == "norm"               ? norm_
                    : operation == "reduce"             ? sums_
                                                        : others_;
    promise = false;
  }
  // Sums of each micro-batch go into `accumulate`, statistics of all ranks into the layer behind them.
  first_of_sums_ = took(trace, "sync_statistics") ? "forward" : "accumulate";
  // A clip by norm takes every gradient in.
  if (!(bias_gradients_ && backward_) && took(trace, "norm")) norm_ = false;
}

bool PromisedBits::of(const TapName& tap) const {
  if (without_.empty()) return true;
  if (!others_ || tap.window > 0) return false;
  const std::ptrdiff_t place = place_of_stage(tap.stage);
  if (!sums_ && place >= place_of_stage(first_of_sums_)) return false;
  if (!backward_ && place >= place_of_stage("backward")) return false;
  if (!norm_ && place >= place_of_stage("norm")) return false;
  if (bias_gradients_ || place < place_of_stage("backward")) return true;
  // Beyond the gradients of one parameter: whether any of them overflowed, and what follows from that.
  const bool of_all =
      tap.stage == StageName::overflow_check || tap.stage == StageName::scaler || tap.stage == StageName::schedule;
  return !of_all && !tap.tensor.ends_with(".bias");
}

}  // namespace tally
