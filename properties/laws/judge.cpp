#include "properties/laws/judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "properties/compare/bound_terms.hpp"
#include "properties/compare/lens.hpp"

namespace tally {
namespace {

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
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

std::string sentence_of(const TensorCheck& check) {
  if (check.lens == "relation") return check.tap;
  if (check.failure == FailureClass::precision) return spread_sentence(check);
  std::string index;
  for (const auto i : check.worst_index) index += (index.empty() ? "" : ", ") + std::to_string(i);
  std::string text = check.tap + "[" + index + "] by the " + check.lens + " lens: expected " +
                     short_number(check.expected) + ", got " + short_number(check.got) + ", error " +
                     short_number(check.error) + ", bound " + short_number(check.bound) + " (" +
                     short_number(check.worst_ratio) + "x)";
  if (const std::string terms = text_of(check.terms); !terms.empty()) text += "; the bound is " + terms;
  if (check.expected != 0 && std::isfinite(check.got)) {
    text += "; got/expected = " + short_number(check.got / check.expected);
  }
  return text;
}

bool in_stages(const TapName& name, const std::vector<std::string>& stages) {
  return std::find(stages.begin(), stages.end(), name.stage) != stages.end() && !name.tensor.starts_with("in.");
}

}  // namespace

Judged judge(const Case& c, const Subject& subject) {
  Judged judged;
  try {
    judged.trace = run(c, subject);
  } catch (const NotSupported& reason) {
    judged.outcome.status = Status::not_run;
    judged.outcome.message = reason.what();
    return judged;
  }
  for (auto& check : local_lens(c, judged.trace)) add(judged.outcome, std::move(check));
  for (auto& check : end_to_end_lens(c, judged.trace)) add(judged.outcome, std::move(check));
  split_bounds(c, judged.trace, judged.outcome.checks);
  for (const auto& violation : judged.trace.violations) require(judged.outcome, false, violation, "kernel", violation);
  judged.outcome = settled(std::move(judged.outcome));
  return judged;
}

void add(Outcome& outcome, TensorCheck check) { outcome.checks.push_back(std::move(check)); }

void add(Outcome& outcome, const Outcome& other) {
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
  std::size_t compared = 0;
  for (const Tap& tap : expected.taps()) {
    if (!in_stages(tap.name, stages)) continue;
    const std::string name = tap.name.text();
    const Tensor* other = got.find(name);
    ++compared;
    if (!other) {
      require(outcome, false, name, tap.name.stage, sentence + ": " + name + " is missing in one run");
    } else {
      add(outcome, bitwise_check(name, tap.name.stage, tap.value, *other));
    }
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

Outcome settled(Outcome outcome) {
  if (outcome.status == Status::not_run) return outcome;
  const TensorCheck* failure = first_failure(outcome.checks);
  if (failure) {
    outcome.status = Status::fail;
    outcome.message = sentence_of(*failure);
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
  return outcome;
}

}  // namespace tally
