#include "properties/diagnosis/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/explained.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"

namespace tally {
namespace {

constexpr double chance_of_a_false_claim = 1e-3;
constexpr std::size_t listed_suspects = 3;
constexpr double telling_factors = 30;  // of one case, at most
constexpr double any_factors = 1000;    // of three digits

thread_local bool asked = true;
thread_local const std::set<std::string>* only = nullptr;  // the suspects that are tried; nullptr: all

struct Tried {
  const Bug* bug;
  Explained found;
  Suspicion suspicion;
  double tries = 1;
  double rivals = 1;  // statements of this sort that were possible; fewer make this one stronger

  double unexplained() const { return std::max(1 - found.share, found.resolution); }
};

bool may_enter(const Bug& bug, const std::string& stage) {
  if (!bug.is_suspect() || (only != nullptr && !only->contains(bug.name))) return false;
  const auto& stages = bug.stages;
  return stages.empty() || std::find(stages.begin(), stages.end(), stage) != stages.end();
}

/// A factor that tells something was picked from a short list, and is no longer free.
void name_factor(Tried& tried, const Evidence& evidence) {
  if (!tried.bug->fits_factor) return;
  const TapName at = tap_name_of(evidence.check.tap);
  Suspicion& s = tried.suspicion;
  s.factor = tried.found.factor;
  s.factor_word = telling_factor(evidence.c, at.window, at.micro_batch, evidence.held.front().dtype, s.factor);
  s.parameters += s.factor_word.empty() ? 2 : 1;
  tried.rivals = s.factor_word.empty() ? any_factors : telling_factors;
  if (!s.factor_word.empty()) {
    const double listed = telling_factors * std::pow(tried.found.rest, tried.found.dimensions / 2);
    tried.found.chance = std::min(tried.found.chance, listed);
  }
}

bool fails(const HeldTensor& held) {
  for (std::size_t i = 0; i < held.got.size(); ++i) {
    const double right = rounded_to(held.dtype, held.expected[i]), bound = held.bound.empty() ? 0 : held.bound[i];
    const bool both_not_finite = !std::isfinite(held.got[i]) && !std::isfinite(right);
    if (!both_not_finite && !(std::fabs(held.got[i] - held.expected[i]) <= bound) && held.got[i] != right) return true;
  }
  return false;
}

/// The way for the failing tensors only: a bug in one path of a kernel leaves tensors on other paths right. nullopt
/// where it said nothing of others.
std::optional<Hypothesis> where_it_fails(const std::vector<bool>& failing, const Hypothesis& way) {
  Hypothesis some = way;
  some.left.clear();
  some.sentence += ", in the failing tensors only";
  ++some.parameters;
  bool others = false;
  for (std::size_t i = 0; i < way.left.size(); ++i) {
    others = others || (way.left[i] && !failing[i]);
    some.left.push_back(failing[i] ? way.left[i] : std::nullopt);
  }
  some.tries *= static_cast<double>(way.left.size());
  return others ? std::optional(std::move(some)) : std::nullopt;
}

Tried held_against(const Evidence& evidence, const Bug& bug, const Hypothesis& hypothesis) {
  Tried one{&bug,
            explained_by(evidence.held, hypothesis.left, bug.fits_factor, hypothesis.bounds),
            {},
            hypothesis.tries,
            std::max(hypothesis.rivals, 1.0)};
  one.suspicion.name = bug.name;
  one.suspicion.share = one.found.share;
  one.suspicion.parameters = hypothesis.parameters;
  one.suspicion.sentence = hypothesis.sentence;
  one.suspicion.formula = hypothesis.formula;
  name_factor(one, evidence);
  return one;
}

/// The ways of a bug that say something of the tensor that fails.
std::vector<Hypothesis> ways_of(const Bug& bug, const Evidence& evidence) {
  std::vector<Hypothesis> ways;
  if (bug.hypotheses != nullptr) {
    ways = bug.hypotheses(evidence);
  } else {
    Hypothesis one{{}, bug.sentence, bug.formula, bug.parameters};
    for (const HeldTensor& held : evidence.held) one.left.push_back(bug.left(evidence, held));
    ways.push_back(std::move(one));
  }
  std::erase_if(ways, [&](const Hypothesis& way) { return !says_something(evidence, way); });
  for (Hypothesis& way : ways) {
    if (way.rivals == 0) way.rivals = static_cast<double>(ways.size());
  }
  return ways;
}

/// The bugs, with one formula or with many ways, that chance does not explain, after `known` ones.
std::vector<Tried> likely(const Evidence& evidence, std::vector<Tried> known, bool many_ways) {
  std::vector<Tried> all;
  std::vector<bool> failing;
  for (const HeldTensor& held : evidence.held) failing.push_back(fails(held));
  for (const Bug* bug : bugs()) {
    if ((bug->hypotheses != nullptr) != many_ways || !may_enter(*bug, tap_name_of(evidence.check.tap).stage)) continue;
    for (const Hypothesis& way : ways_of(*bug, evidence)) {
      all.push_back(held_against(evidence, *bug, way));
      if (!many_ways || all.back().found.within) continue;
      if (const auto some = where_it_fails(failing, way)) all.back() = held_against(evidence, *bug, *some);
    }
  }
  const auto count = static_cast<double>(all.size());
  for (Tried& t : all) {
    const bool chance = !(count * t.tries * t.found.chance <= chance_of_a_false_claim);
    if (t.found.within && t.found.share > 0 && !chance) known.push_back(std::move(t));
  }
  return known;
}

/// The absence is the evidence: there is nothing to hold a formula against.
std::vector<Suspicion> stage_not_run(const TensorCheck& check) {
  Suspicion found;
  found.name = "stage-not-run";
  found.share = 1;
  found.sentence = "stage " + check.stage + " was not run: the recipe requires it, but it left no tensor";
  found.formula = "no tap of " + check.tap;
  return {found};
}

/// A scalar is a multiple of any number, so that a fitted factor says nothing.
bool holds_more_than_numbers(const Evidence& evidence) {
  return std::ranges::any_of(evidence.held, [](const HeldTensor& held) { return held.got.size() > 1; });
}

/// Only their names order the two.
bool as_good(const Tried& a, const Tried& b) {
  return a.unexplained() == b.unexplained() && a.suspicion.parameters == b.suspicion.parameters;
}

}  // namespace

NoDiagnosis::NoDiagnosis() : before_(asked) { asked = false; }
NoDiagnosis::~NoDiagnosis() { asked = before_; }

OnlySuspects::OnlySuspects(std::set<std::string> names) : names_(std::move(names)), before_(only) { only = &names_; }
OnlySuspects::~OnlySuspects() { only = before_; }

std::vector<Suspicion> diagnose(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks) {
  const TensorCheck* failure = asked ? first_failure(checks) : nullptr;
  if (failure == nullptr || (failure->lens != "local" && failure->lens != "group")) return {};
  if (is_absent(*failure)) return stage_not_run(*failure);
  const Evidence evidence(c, trace, *failure);
  if (evidence.failing() == nullptr) return {};
  std::vector<Tried> all = likely(evidence, {}, false);
  const bool named = std::ranges::any_of(all, [](const Tried& t) { return t.suspicion.parameters == 0; });
  if (!named && holds_more_than_numbers(evidence)) {
    all = likely(evidence, std::move(all), true);
  }
  std::stable_sort(all.begin(), all.end(), [](const Tried& a, const Tried& b) {
    return std::make_tuple(a.unexplained(), a.suspicion.parameters, a.rivals, a.found.rest, a.suspicion.name) <
           std::make_tuple(b.unexplained(), b.suspicion.parameters, b.rivals, b.found.rest, b.suspicion.name);
  });
  std::vector<Suspicion> listed;
  for (const Tried& each : all) {
    const bool listed_before = std::any_of(listed.begin(), listed.end(),
                                           [&](const Suspicion& other) { return other.name == each.suspicion.name; });
    if (listed.size() < listed_suspects || (as_good(each, all.front()) && !listed_before))
      listed.push_back(each.suspicion);
  }
  return listed;
}

}  // namespace tally
