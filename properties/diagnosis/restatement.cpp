// A restatement: what a loop may do in place of what its case says; a failed capture judged again under each.
#include "properties/diagnosis/restatement.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "oracle/case/io.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {

std::int64_t steps_before(const Case& c) {
  const auto step = c.tensors.find("step");
  return step == c.tensors.end() ? 0 : step->second.integer(0);
}

int regrouped_window(const Case& c, int window, int micro_batch) {
  int before = 0;
  for (int w = 0; w < window; ++w) before += static_cast<int>(c.windows[static_cast<std::size_t>(w)].size());
  return before + micro_batch;
}

TapName regrouped(const Case& c, TapName name) {
  const bool first = name.tensor.starts_with("in.") || name.stage == StageName::cast;
  const auto last = static_cast<int>(c.windows[static_cast<std::size_t>(name.window)].size()) - 1;
  name.window = regrouped_window(c, name.window, name.micro_batch >= 0 ? name.micro_batch : first ? 0 : last);
  if (name.micro_batch >= 0) name.micro_batch = 0;
  return name;
}

bool is_of_the_cut(const TapName& name) {
  return name.stage == StageName::schedule || (name.stage == StageName::count && name.micro_batch < 0);
}

Trace regrouped(const Case& c, const Trace& trace) {
  Trace other;
  other.claims = trace.claims;
  other.case_hash = trace.case_hash;
  for (const Tap& tap : trace.taps()) {
    if (!is_of_the_cut(tap.name)) other.add(regrouped(c, tap.name), tap.value);
  }
  return other;
}

Case regrouped(const Case& c) {
  Case other = c;
  other.windows.clear();
  for (const auto& window : c.windows) {
    for (const std::int64_t rows : window) other.windows.push_back({rows});
  }
  return other;
}

namespace {

using ChecksByTap = std::unordered_map<std::string, std::vector<TensorCheck>>;

bool fails_somehow(const TensorCheck& check) { return check.status == Status::fail || check.status == Status::error; }
bool is_input(const TapName& name) { return name.tensor.starts_with("in."); }

/// Inputs that the walk did not hold, against their producers' outputs: the bits, or the expected values where no tap
/// was left.
void judge_inputs(const Walk& walk, const std::map<std::string, oracle::Expected>& expected,
                  std::vector<TensorCheck>& checks) {
  std::unordered_map<std::string, bool> held;
  const WindowGraph graph(walk.c);
  for (const TensorCheck& check : checks) held[check.tap] = true;
  for (const Tap& tap : walk.trace.taps()) {
    const std::string name = tap.name.text();
    if (!is_input(tap.name) || held.contains(name)) continue;
    for (const TapName& producer : producers_of(walk.c, graph, tap.name)) {
      if (const Tensor* left = walk.trace.find(producer.view())) {
        checks.push_back(bitwise_check(name, tap.name.stage, *left, tap.value));
        break;
      }
      const auto known = expected.find(producer.text());
      if (known == expected.end()) continue;
      if (static_cast<std::size_t>(known->second.v.size()) == tap.value.elements())
        checks.push_back(judge({"group", name, tap.name.stage}, known->second, tap.value));
      break;
    }
  }
}

/// Windows that the walk skipped without a tap that says so: they prove nothing.
bool skips_unseen(const Walk& walk, std::int64_t steps_before) {
  std::int64_t seen = 0;
  for (const Tap& tap : walk.trace.taps()) {
    seen += tap.name.stage == StageName::overflow_check && tap.name.tensor == "found" && tap.value.integer(0) != 0;
  }
  return static_cast<std::int64_t>(walk.c.windows.size()) - (walk.state.step - steps_before) > seen;
}

/// What was counted, which the walk does not read.
void judge_counts(const Case& c, const Trace& trace, std::vector<TensorCheck>& checks) {
  Walk walk(c, trace, Lens::local);
  for (; walk.window < static_cast<int>(c.windows.size()); ++walk.window) walk_count(walk);
  std::ranges::move(walk.checks, std::back_inserter(checks));
}

/// Every tap from those before it; nothing where one fails_somehow.
std::optional<std::vector<TensorCheck>> stage_by_stage(const Case& c, const Trace& trace,
                                                       const LoopDeviation& deviation) {
  Walk walk(c, trace, Lens::group);
  std::map<std::string, oracle::Expected> expected;
  walk.deviation = &deviation;
  walk.expected = &expected;
  const std::int64_t steps_before = walk.state.step;
  walk_all(walk);
  if (walk.is_done() || walk.ended || skips_unseen(walk, steps_before)) return std::nullopt;
  std::vector<TensorCheck> checks = std::move(walk.checks);
  judge_inputs(walk, expected, checks);
  judge_counts(c, trace, checks);
  if (std::any_of(checks.begin(), checks.end(), fails_somehow)) return std::nullopt;
  return checks;
}

/// No tensor leaves the bounds that grow from the case on.
bool passes_end_to_end(const Case& c, const Trace& trace, const LoopDeviation& deviation,
                       std::vector<TensorCheck> known) {
  for (TensorCheck& check : known) check.lens = "local";  // what decisions may be adopted by
  Walk walk(c, trace, Lens::end_to_end);
  walk.deviation = &deviation;
  walk.know_local(known);
  walk_all(walk);
  return !walk.is_done();
}

/// What the statement's check of a tap becomes: whether it is judged as well, and tells the two apart.
struct Held {
  bool as_well = true, told_apart = false;
};

Held held_as_well(const TensorCheck& stated, const std::vector<TensorCheck>* now) {
  const bool informative = fails_somehow(stated) || stated.status == Status::pass;
  if (now == nullptr) return {!informative || (!fails_somehow(stated) && is_input(tap_name_of(stated.tap))), false};
  Held held;
  for (const TensorCheck& check : *now) {
    if (check.status != Status::pass) held.as_well = !informative;
    const bool by_norm = 2 * check.norm_bound <= stated.norm_error, by_element = 2 * check.bound <= stated.error;
    held.told_apart = held.told_apart || (fails_somehow(stated) && (by_norm || by_element));
  }
  return held;
}

/// Whether the restatement, which fails_somehow nowhere, was judged by all that the statement was judged by.
bool judged_no_less(const Case& c, const Restated& way, const std::vector<TensorCheck>& stated,
                    const std::vector<TensorCheck>& restated) {
  ChecksByTap now;
  for (const TensorCheck& check : restated) {
    if (check.status != Status::not_run) now[check.tap].push_back(check);
  }
  bool told_apart = false;
  for (const TensorCheck& check : stated) {
    if (check.lens == "end_to_end" || check.status == Status::not_run) continue;
    const TapName name = tap_name_of(check.tap);
    if (way.steps_each_micro_batch && is_of_the_cut(name)) continue;
    const auto found = now.find((way.steps_each_micro_batch ? regrouped(c, name) : name).text());
    const Held held = held_as_well(check, found == now.end() ? nullptr : &found->second);
    if (!held.as_well) return false;
    told_apart = told_apart || held.told_apart;
  }
  return told_apart;
}

bool is_the_cause(const Case& c, const Trace& trace, const Restated& way, const std::vector<TensorCheck>& stated) try {
  Case changed = way.steps_each_micro_batch ? regrouped(c) : c;
  if (way.change) way.change(changed);
  if (!validate(changed).empty()) return false;
  const std::optional<Trace> read =
      way.steps_each_micro_batch ? std::optional(regrouped(c, trace)) : std::optional<Trace>();
  const Trace& taps = read ? *read : trace;
  const auto checks = stage_by_stage(changed, taps, way.deviation);
  return checks && judged_no_less(c, way, stated, *checks) && passes_end_to_end(changed, taps, way.deviation, *checks);
} catch (const std::exception&) {
  return false;  // there is no such case, or no rule for it
}

struct Cause {
  int changed;
  Suspicion suspicion;
};

}  // namespace

bool small_enough_to_restate(const Case& c, const Trace& trace) {
  constexpr std::size_t most_elements = std::size_t{1} << 25, most_products = std::size_t{1} << 26;
  std::size_t elements = 0, parameters = 0, rows = 0;
  for (const Tap& tap : trace.taps()) elements += tap.value.elements();
  for (const std::string& p : parameters_of(c.model)) parameters += c.tensors.at(p).elements();
  for (const auto& window : c.windows) {
    for (const std::int64_t count : window) rows += static_cast<std::size_t>(count);
  }
  return elements <= most_elements && rows * parameters <= most_products;
}

std::vector<Suspicion> restated_causes(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks) {
  if (std::none_of(checks.begin(), checks.end(), fails_somehow)) return {};
  std::vector<Cause> causes;
  for (const Bug* bug : bugs()) {
    if (bug->restated == nullptr) continue;
    std::vector<Restated> ways = bug->restated(c, trace);
    std::stable_sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.changed < b.changed; });
    const auto found = std::find_if(ways.begin(), ways.end(),
                                    [&](const Restated& way) { return is_the_cause(c, trace, way, checks); });
    if (found == ways.end()) continue;
    Suspicion named;
    named.name = bug->name;
    named.share = 1;
    named.sentence = found->sentence.empty() ? bug->sentence : found->sentence;
    named.formula = found->formula.empty() ? bug->formula : found->formula;
    causes.push_back({found->changed, std::move(named)});
  }
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) { return a.changed < b.changed; });
  std::vector<Suspicion> named;
  for (Cause& cause : causes) named.push_back(std::move(cause.suspicion));
  return named;
}

}  // namespace tally
