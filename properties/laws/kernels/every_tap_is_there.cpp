// Law: the built-in training step leaves every tap that the lenses judge or read. What is not tapped is judged by
// nobody, and a case with a gap would only count as not run.
#include <algorithm>

#include "kernels/training_step/own_step.hpp"
#include "oracle/case/counted.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/compare/lens.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::every_tap_is_there_law {
namespace {

const TensorCheck* first_missing(const Outcome& outcome) {
  const auto found = std::find_if(outcome.checks.begin(), outcome.checks.end(),
                                  [](const TensorCheck& check) { return check.status == Status::not_run; });
  return found == outcome.checks.end() ? nullptr : &*found;
}

/// What a subject need not leave, and Tally's own step does: the items that every rank counted.
void require_counts(Outcome& outcome, const Case& c, const Trace& trace) {
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    if (!counted_items(c, w)) continue;
    const auto window = static_cast<int>(w);
    for (std::size_t rank = 0; rank < ranks_of(c, w); ++rank)
      for (int k = -1; k < static_cast<int>(micro_batches_of(c, w, rank)); ++k) {
        const TapName name{window, k, "count", "items", c.dealt.empty() ? -1 : static_cast<int>(rank)};
        const bool there = trace.find(name.view()) != nullptr;
        require(outcome, there, name.text(), "count", name.text() + " was not tapped: nobody judges it");
      }
  }
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.checks.empty()) return judged.outcome;  // the case could not run at all
  const TensorCheck* missing = first_missing(judged.outcome);
  if (missing == nullptr) {
    if (own_step(subject) == nullptr) require_counts(judged.outcome, c, judged.trace);
    return settled(std::move(judged.outcome));
  }
  const std::string tap = missing->tap, stage = missing->stage;
  judged.outcome.status = Status::pass;
  require(judged.outcome, false, tap, stage, tap + " was not tapped: nobody judges it");
  return settled(std::move(judged.outcome));
}

/// A trace without its last output has a gap.
bool differs(const Case& c, const RunOptions& subject) {
  const Trace whole = run(c, subject);
  const auto is_output = [](const Tap& tap) { return !tap.name.tensor.starts_with("in."); };
  const auto last = std::find_if(whole.taps().rbegin(), whole.taps().rend(), is_output);
  if (last == whole.taps().rend()) return false;
  Trace shorter;
  shorter.claims = whole.claims;
  for (const Tap& tap : whole.taps()) {
    if (!(tap.name == last->name)) shorter.add(tap.name, tap.value);
  }
  Outcome outcome;
  outcome.checks = local_lens(c, shorter);
  return first_missing(outcome) != nullptr;
}

const RegisterLaw registered{{
    .name = "every_tap_is_there",
    .family = "kernels",
    .statement = "The training step leaves every tap that the lenses judge or read.",
    .holds = holds,
    .control = "a trace without its last output has a gap",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::every_tap_is_there_law
