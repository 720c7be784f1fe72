#include "properties/laws/judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "kernels/device/launch_paths.hpp"
#include "oracle/case/expected_tensors.hpp"
#include "properties/compare/absent_stages.hpp"
#include "properties/compare/bound_terms.hpp"
#include "properties/compare/groups.hpp"
#include "properties/compare/lens.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/diagnosis/telling_factor.hpp"
#include "properties/laws/promised_bits.hpp"
#include "properties/operations/operation_scope.hpp"
#include "properties/triggers/coverage.hpp"

namespace tally {
namespace {

std::string short_number(double value, int digits = 4) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

/// Digits that tell the two apart, where any do.
int telling_digits(double a, double b) {
  int digits = 4;
  while (digits < 17 && a != b && short_number(a, digits) == short_number(b, digits)) ++digits;
  return digits;
}

/// A power of ten above the chance; far below anything that matters, all read the same.
std::string chance_limit(double log10) {
  constexpr double least = -1000;
  return "1e" + short_number(log10 >= least ? std::ceil(log10) : least);
}

/// Inside its bound, but not what rounding to nearest leaves.
std::string spread_sentence(const TensorCheck& check) {
  const SpreadFinding& found = check.spread;
  std::string text = check.tap + " by the statistical lens (" + found.test + "): " + short_number(found.deviation) +
                     " times its spread, chance below " + chance_limit(found.log10_chance);
  if (found.share != 0) text += "; the error holds " + short_number(found.share) + " of that direction";
  return text;
}

/// As accurate as the declared order, but not its bits.
std::string order_sentence(const TensorCheck& check) {
  return check.tap + ": bits of " + std::to_string(check.differing) + " of " + std::to_string(check.elements) +
         " elements differ from the order of additions that the kernel claims, at equal accuracy (" +
         short_number(check.worst_ratio) + "x of its bound)";
}

/// Nothing was left by a stage that must run.
std::string absence_sentence(const TensorCheck& check, const std::string& behind) {
  return check.tap + " is absent: the recipe demands " + check.stage + ", which was not run" +
         (behind.empty() ? "" : "; behind it fails " + behind);
}

std::string sentence_of(const TensorCheck& check, const std::string& ratio) {
  if (check.lens == "relation" && check.worst_index.empty()) return check.tap;  // a sentence of its own
  if (check.failure == FailureClass::order) return order_sentence(check);
  if (check.failure == FailureClass::precision) return spread_sentence(check);
  std::string index;
  for (const auto i : check.worst_index) index += (index.empty() ? "" : ", ") + std::to_string(i);
  const int digits = telling_digits(check.expected, check.got);
  std::string text = check.tap + "[" + index + "] by the " + check.lens + " lens: expected " +
                     short_number(check.expected, digits) + ", got " + short_number(check.got, digits);
  if (check.expected != 0 && check.got != 0 && std::isfinite(check.got)) {
    const double share = check.got / check.expected;
    text += ", " + short_number(share, telling_digits(share, 1)) + " of it" + (ratio.empty() ? "" : " = " + ratio);
  }
  text += "; error " + short_number(check.error) + ", bound " + short_number(check.bound) + " (" +
          short_number(check.worst_ratio) + "x)";
  if (const std::string terms = text_of(check.terms); !terms.empty()) text += "; the bound is " + terms;
  return text;
}

/// What first fails but for the absent stage.
std::string failing_behind(std::vector<TensorCheck> checks, const TensorCheck& absent) {
  std::erase_if(checks, [&](const TensorCheck& check) { return is_absent(check) && check.tap == absent.tap; });
  const TensorCheck* next = first_failure(checks);
  return next == nullptr ? "" : sentence_of(*next, "");
}

/// Suspects, and what the worst element's ratio tells, of a local failure.
void explain(Outcome& outcome, const Case& c, const Trace& trace) {
  const TensorCheck* failure = first_failure(outcome.checks);
  if (failure == nullptr || failure->lens != "local") return;
  outcome.suspects = diagnose(c, trace, outcome.checks);
  const Tensor* got = trace.find(failure->tap);
  if (got == nullptr || failure->expected == 0) return;
  const TapName at = tap_name_of(failure->tap);
  outcome.ratio = telling_factor(c, at.window, at.micro_batch, got->dtype, failure->got / failure->expected);
}

bool in_stages(const TapName& name, const std::vector<std::string>& stages) {
  return std::find(stages.begin(), stages.end(), name.stage) != stages.end() && !name.tensor.starts_with("in.");
}

bool has_an_item(const Case& c) {
  for (std::int64_t row = 0; row < rows_of(c); ++row)
    if (item_weight(c, row).to_double() != 0) return true;
  return false;
}

/// Every gradient of every window is exactly zero: two dead runs agree whatever they compute.
bool is_dead(const Outcome& outcome) {
  std::size_t gradients = 0;
  for (const TensorCheck& check : outcome.checks) {
    if (check.lens != "end_to_end" || check.stage != "unscale") continue;
    if (!check.zero_signal) return false;
    ++gradients;
  }
  return gradients > 0;
}

}  // namespace

Judged judge(const Case& c, const Subject& subject) {
  Judged judged;
  const LaunchScope launches;
  try {
    judged.trace = run(c, subject);
  } catch (const NotSupported& reason) {
    judged.outcome.status = Status::not_run;
    judged.outcome.message = reason.what();
    return judged;
  }
  note_judged_run(c, judged.trace, launches.paths());
  note_operations(c, judged.trace);
  for (auto& check : hard_lenses(c, judged.trace, Grouping::declared).checks) add(judged.outcome, std::move(check));
  split_bounds(c, judged.trace, judged.outcome.checks);
  for (const auto& violation : judged.trace.violations) require(judged.outcome, false, violation, "kernel", violation);
  explain(judged.outcome, c, judged.trace);
  judged.outcome = settled(std::move(judged.outcome));
  if (judged.outcome.status == Status::vacuous && !has_an_item(c))
    judged.outcome.message += "; no row counts, as each is ignored or weighs 0";
  return judged;
}

void add(Outcome& outcome, TensorCheck check) { outcome.checks.push_back(std::move(check)); }

void add(Outcome& outcome, const Outcome& other) {
  if (first_failure(outcome.checks) == nullptr) {
    outcome.suspects = other.suspects;
    outcome.ratio = other.ratio;
  }
  outcome.checks.insert(outcome.checks.end(), other.checks.begin(), other.checks.end());
  if (other.status == Status::not_run) {
    outcome.status = Status::not_run;
    outcome.message = other.message;
  }
}

void require(Outcome& outcome, bool holds, const std::string& tap, const std::string& stage,
             const std::string& sentence) {
  TensorCheck check;
  check.lens = "relation";
  check.tap = holds ? tap : sentence;
  check.stage = stage;
  check.elements = 1;
  check.status = holds ? Status::pass : Status::fail;
  check.failure = holds ? FailureClass::none : FailureClass::logic;
  add(outcome, std::move(check));
}

void require_equal_bits(Outcome& outcome, const Trace& expected, const Trace& got,
                        const std::vector<std::string>& stages, const std::string& sentence) {
  const PromisedBits promised(expected), promised_there(got);
  std::size_t compared = 0, without_promise = 0;
  for (const Tap& tap : expected.taps()) {
    if (!in_stages(tap.name, stages)) continue;
    if (!promised.of(tap.name) || !promised_there.of(tap.name)) {
      ++without_promise;
      continue;
    }
    const std::string name = tap.name.text();
    const Tensor* other = got.find(name);
    ++compared;
    if (!other) {
      require(outcome, false, name, tap.name.stage, sentence + ": " + name + " is missing in one run");
    } else {
      add(outcome, bitwise_check(name, tap.name.stage, tap.value, *other));
    }
  }
  if (compared == 0 && without_promise > 0) {
    return no_promise(outcome, promised.without().empty() ? promised_there : promised, stages.front());
  }
  require(outcome, compared > 0, "compared taps", stages.front(), sentence + ": nothing to compare");
}

bool bits_differ(const Trace& a, const Trace& b, const std::vector<std::string>& stages) {
  for (const Tap& tap : a.taps()) {
    if (!in_stages(tap.name, stages)) continue;
    const Tensor* other = b.find(tap.name.text());
    if (!other || bitwise_check(tap.name.text(), tap.name.stage, tap.value, *other).status != Status::pass) return true;
  }
  return false;
}

void no_promise(Outcome& outcome, const PromisedBits& promised, const std::string& stage) {
  TensorCheck check;
  check.lens = "bitwise";
  check.tap = promised.without() + " repeats within its claim only: no bits of this run are promised here";
  check.stage = stage;
  check.status = Status::vacuous;
  add(outcome, std::move(check));
}

Outcome vacuous(Outcome outcome, const std::string& reason) {
  if (outcome.status != Status::pass) return outcome;
  outcome.status = Status::vacuous;
  outcome.message = reason;
  return outcome;
}

Outcome not_for(const std::string& what_it_needs) {
  Outcome outcome;
  outcome.status = Status::not_run;
  outcome.message = "the law needs " + what_it_needs;
  return outcome;
}

Outcome settled(Outcome outcome) {
  if (outcome.status == Status::not_run) return outcome;
  const TensorCheck* failure = first_failure(outcome.checks);
  if (failure) {
    outcome.status = Status::fail;
    outcome.message = is_absent(*failure) ? absence_sentence(*failure, failing_behind(outcome.checks, *failure))
                                          : sentence_of(*failure, outcome.ratio);
    if (!outcome.suspects.empty()) {
      outcome.message += "; " + text_of(outcome.suspects) + ": " + outcome.suspects.front().sentence;
    }
    return outcome;
  }
  const auto passed = std::count_if(outcome.checks.begin(), outcome.checks.end(),
                                    [](const TensorCheck& check) { return check.status == Status::pass; });
  const auto missing = std::find_if(outcome.checks.begin(), outcome.checks.end(),
                                    [](const TensorCheck& check) { return check.status == Status::not_run; });
  outcome.status = passed > 0 ? Status::pass : Status::vacuous;
  if (missing != outcome.checks.end()) {
    outcome.status = Status::not_run;
    outcome.message = missing->tap + " was not tapped";
  }
  if (outcome.status == Status::pass && is_dead(outcome)) {
    return vacuous(std::move(outcome), "every gradient is exactly zero: dead runs agree whatever they compute");
  }
  const auto unpromised = std::find_if(outcome.checks.begin(), outcome.checks.end(), [](const TensorCheck& check) {
    return check.lens == "bitwise" && check.status == Status::vacuous;
  });
  if (unpromised == outcome.checks.end() || outcome.status == Status::not_run) return outcome;
  outcome.status = Status::vacuous;
  outcome.message = unpromised->tap;
  return outcome;
}

}  // namespace tally
