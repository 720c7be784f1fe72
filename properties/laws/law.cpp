// A law: one sentence that must hold for every case in its domain, a control that must differ, and what becomes of
// outcomes.
#include "properties/laws/law.hpp"

#include <algorithm>

#include "properties/diagnosis/sentences.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/judge.hpp"

namespace tally {

Outcome::Outcome() = default;
Outcome::Outcome(const Outcome&) = default;
Outcome::Outcome(Outcome&&) noexcept = default;
Outcome& Outcome::operator=(const Outcome&) = default;
Outcome& Outcome::operator=(Outcome&&) noexcept = default;
Outcome::~Outcome() = default;

std::vector<const Law*> laws() { return all_records<Law>(); }

const Law* find_law(std::string_view name) { return find_record<Law>(name); }

namespace {

bool in_stages(const TapName& name, const std::vector<std::string>& stages) {
  return std::find(stages.begin(), stages.end(), name.stage) != stages.end() && !name.tensor.starts_with("in.");
}

/// Every gradient of every window that took its step is exactly zero: two dead runs agree whatever they compute.
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
             const std::string& message) {
  TensorCheck check;
  check.lens = "relation";
  check.tap = tap;
  check.stage = stage;
  check.elements = 1;
  check.status = holds ? Status::pass : Status::fail;
  check.failure = holds ? FailureClass::none : FailureClass::logic;
  if (!holds) check.message = message;
  add(outcome, std::move(check));
}

void require_equal_bits(Outcome& outcome, const Trace& expected, const Trace& got,
                        const std::vector<std::string>& stages, const std::string& message) {
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
      require(outcome, false, name, tap.name.stage, message + ": " + name + " is missing in one run");
    } else {
      add(outcome, bitwise_check(name, tap.name.stage, tap.value, *other));
    }
  }
  if (compared == 0 && without_promise > 0) {
    return no_promise(outcome, promised.without().empty() ? promised_there : promised, stages.front());
  }
  require(outcome, compared > 0, "compared taps", stages.front(), message + ": nothing to compare");
}

bool bits_differ(const Trace& a, const Trace& b, const std::vector<std::string>& stages) {
  for (const Tap& tap : a.taps()) {
    if (!in_stages(tap.name, stages)) continue;
    const Tensor* other = b.find(tap.name.view());
    if (!other || bitwise_check(tap.name.text(), tap.name.stage, tap.value, *other).status != Status::pass) return true;
  }
  return false;
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
    outcome.message =
        is_absent(*failure) ? absence_sentence(*failure, outcome.checks) : sentence_of(*failure, outcome.ratio);
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
    return vacuous(std::move(outcome),
                   "every gradient that a step took is exactly zero: dead runs agree whatever they compute");
  }
  const auto unpromised = std::find_if(outcome.checks.begin(), outcome.checks.end(), [](const TensorCheck& check) {
    return check.lens == "bitwise" && check.status == Status::vacuous;
  });
  if (unpromised == outcome.checks.end() || outcome.status == Status::not_run) return outcome;
  outcome.status = Status::vacuous;
  outcome.message = unpromised->message;
  return outcome;
}

}  // namespace tally
