// The verdict on one trace of one case, of ranks together, or of taps that may miss; violations, missing promises,
// false refusals.
#include "properties/laws/judge.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "kernels/trace/stage_group.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/diagnosis/explained.hpp"
#include "properties/judge/bound_terms.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/law.hpp"

namespace tally {
namespace {

/// Suspects, and what the worst element's ratio tells, of a local failure.
void explain(Outcome& outcome, const Case& c, const Trace& trace) {
  const TensorCheck* failure = first_failure(outcome.checks);
  if (failure == nullptr || failure->lens != "local") return;
  if (asks_suspects()) outcome.suspects = diagnose(c, trace, outcome.checks);
  const Tensor* got = trace.find(failure->tap);
  if (got == nullptr || failure->expected == 0) return;
  const TapName at = tap_name_of(failure->tap);
  outcome.ratio = telling_factor(c, at.window, at.micro_batch, got->dtype, failure->got / failure->expected);
}

}  // namespace

Outcome dead_or(Outcome outcome, const Case& c, const Trace& trace) {
  if (outcome.status != Status::pass && outcome.status != Status::vacuous) return outcome;
  if (const std::string dead = dead_steps(c, trace, outcome.checks); !dead.empty()) {
    outcome.status = Status::vacuous;
    outcome.message = dead;
  }
  return outcome;
}

Outcome judge(const Case& c, const Trace& trace) { return judge_grouped(c, trace, Grouping::declared); }

Outcome judge_grouped(const Case& c, const Trace& trace, Grouping grouping) {
  if (in_ranks(c) && c.whole == nullptr) return judge_ranks(c, trace, grouping);
  Outcome outcome;
  outcome.checks = hard_lenses(c, trace, grouping).checks;
  split_bounds(c, trace, outcome.checks);
  for (const std::string& violation : trace.violations)
    require(outcome, false, "memory", stage_of_violation(violation), violation);
  name_places(c, outcome.checks);
  explain(outcome, c, trace);
  outcome = settled(std::move(outcome));
  return dead_or(std::move(outcome), c, trace);
}

namespace {

using Found = std::vector<std::vector<GroupedChecks>>;  // by generation and rank

void explain_ranks(Outcome& outcome, const GenerationsOfTrace& generations, const Found& of_each) {
  const TensorCheck* failure = first_failure(outcome.checks);
  if (failure == nullptr || failure->lens != "local" || !asks_suspects()) return;
  const std::size_t which = generations.with(failure->tap), rank = rank_of_tap(failure->tap);
  const RanksOfTrace& ranks = generations.all[which];
  outcome.suspects = diagnose(ranks.parts[rank], ranks.traces[rank], of_each[which][rank].checks);
}

/// What the bounds are made of, of the checks that a record keeps: each by its own rank, on the bits that it read.
void split_worst(const GenerationsOfTrace& generations, std::vector<TensorCheck>& checks) {
  std::vector<std::size_t> chosen = worst_of(checks);
  if (const TensorCheck* failure = first_failure(checks))
    chosen.push_back(static_cast<std::size_t>(failure - checks.data()));
  for (const std::size_t i : chosen) {
    TensorCheck& check = checks[i];
    if (check.lens != "local") continue;
    const RanksOfTrace& ranks = generations.all[generations.with(check.tap)];
    const std::size_t rank = rank_of_tap(check.tap);
    std::vector<TensorCheck> own{check};
    own.front().tap = without_rank(check.tap);
    split_bounds(ranks.parts[rank], ranks.traces[rank], own);
    check.terms = own.front().terms;
  }
}

}  // namespace

Outcome judge_ranks(const Case& c, const Trace& trace, Grouping grouping) {
  const GenerationsOfTrace generations(c, trace);
  Found of_each = hard_lenses(generations, grouping);
  for (std::size_t i = 0; i < of_each.size(); ++i)
    for (std::size_t rank = 0; rank < of_each[i].size(); ++rank)
      for (TensorCheck& check : of_each[i][rank].checks)
        if (check.status == Status::fail)
          check.place = named_place(generations.all[i].parts[rank], tap_name_of(check.tap), check.worst_index);
  Outcome outcome;
  outcome.checks = checks_of_whole(generations, trace, of_each);
  split_worst(generations, outcome.checks);
  for (const std::string& violation : trace.violations)
    require(outcome, false, "memory", stage_of_violation(violation), violation);
  explain_ranks(outcome, generations, of_each);
  return dead_or(settled(std::move(outcome)), c, trace);
}

namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_";

/// What is waited for, "w1/m0/send, part 0 to 1".
struct Awaited {
  int window = 0;
  std::string_view stage = {};
  std::tuple<int, std::ptrdiff_t> place() const { return {window, place_of_stage(stage)}; }
  bool known() const { return place_of_stage(stage) < static_cast<std::ptrdiff_t>(stages_in_order.size()); }
};

Awaited awaited_in(std::string_view text) {
  Awaited awaited;
  const auto number = std::from_chars(text.data(), text.data() + text.size(), awaited.window);
  text.remove_prefix(static_cast<std::size_t>(number.ptr - text.data()));
  while (text.starts_with("/")) {
    text.remove_prefix(1);
    awaited.stage = text.substr(0, text.find_first_not_of(letters));
    if (awaited.stage != "m") break;  // of micro-batch k
    text.remove_prefix(std::min(text.find('/'), text.size()));
  }
  return awaited;
}

}  // namespace

std::string stage_of_violation(std::string_view violation) {
  Awaited first;
  for (const std::string_view before : {"waits for w", "bytes of w"})
    for (std::size_t at = violation.find(before); at != std::string_view::npos; at = violation.find(before, at + 1)) {
      const Awaited awaited = awaited_in(violation.substr(at + before.size()));
      if (awaited.known() && (first.stage.empty() || awaited.place() < first.place())) first = awaited;
    }
  return first.stage.empty() ? "kernel" : std::string(first.stage);
}

void no_promise(Outcome& outcome, const PromisedBits& promised, const std::string& stage) {
  TensorCheck check;
  check.lens = "bitwise";
  check.tap = stage;
  check.message = promised.without() + " repeats within its claim only: no bits of this run are promised here";
  check.stage = stage;
  check.status = Status::vacuous;
  add(outcome, std::move(check));
}

namespace {

/// Whether one element of the gradients that a stage left is not zero; nullopt where it left none.
std::optional<bool> left_gradient(const Trace& trace, const std::string& stage) {
  std::optional<bool> found;
  for (const Tap& tap : trace.taps()) {
    if (tap.name.stage != stage || !tap.name.tensor.starts_with("d.")) continue;
    found = found.value_or(false);
    for (std::size_t i = 0; i < tap.value.elements() && !*found; ++i) found = tap.value.value(i) != 0;
  }
  return found;
}

/// Whether there is a gradient: that of the windows, where it is tapped, as those of micro-batches may cancel, and the
/// update is zero then.
bool has_gradient(const Trace& trace) {
  const auto of_windows = left_gradient(trace, "unscale");
  return of_windows ? *of_windows : left_gradient(trace, "backward").value_or(false);
}

}  // namespace

std::string refusal_of(const Outcome& settled, const Trace& trace) {
  if (settled.status != Status::vacuous || !has_gradient(trace)) return "";
  return settled.message.empty() ? "every check is vacuous" : settled.message;
}

namespace {

thread_local bool asks = true;

}  // namespace

WithoutSuspects::WithoutSuspects() : before_(std::exchange(asks, false)) {}
WithoutSuspects::~WithoutSuspects() { asks = before_; }
bool asks_suspects() { return asks; }

}  // namespace tally
