// What a tap is judged through: the stages since the last taps, those that left none, and producers.
#include <algorithm>

#include "kernels/trace/stage_group.hpp"
#include "kernels/trace/trace.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"

namespace tally {
namespace {

/// Stages that only count: what comes of them is known from the case and the skips, so nothing is composed through
/// them.
bool keeps_count(const StageRun& run) { return run.stage == StageName::scaler || run.stage == StageName::schedule; }

bool is_state(const TapName& name) {
  return name.stage == StageName::optimizer && !parameter_of_state(name.tensor).empty();
}

}  // namespace

StageCones::StageCones(const Case& c, const std::vector<TensorCheck>& outputs) : c_(c), graph_(c) {
  for (const TensorCheck& check : outputs) {
    const TapName name = tap_name_of(check.tap);
    const auto [at, fresh] = index_.emplace(Key{name.window, name.micro_batch, name.stage}, runs_.size());
    if (fresh) runs_.push_back({name.window, name.micro_batch, name.stage, true});
    if (check.status != Status::not_run) continue;
    runs_[at->second].observed = false;
    if (!is_state(name)) runs_[at->second].shown = false;
  }
  covered_.assign(runs_.size(), false);
  known_.resize(runs_.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (!runs_[i].shown) continue;
    std::set<std::size_t> reached;
    reach(i, reached);
    for (const std::size_t j : reached) covered_[j] = true;
  }
}

/// The runs that a run reads from: of each source the first that there is, and of `each` all.
const std::vector<std::size_t>& StageCones::producers(std::size_t at) const {
  if (known_[at]) return *known_[at];
  std::vector<std::size_t>& found = known_[at].emplace();
  const StageRun& run = runs_[at];
  const Node* node = graph_.node(run.stage, run.micro_batch < 0);
  if (node == nullptr) return found;
  const NodePlace reader{node->stage, run.window, run.micro_batch};
  const auto add = [&](const Source& source) {
    bool any = false;
    for (const NodePlace& place : places_read(c_, source, reader)) {
      const auto left = index_.find({place.window, place.micro_batch, std::string(name_of(place.stage))});
      if (left == index_.end()) continue;
      found.push_back(left->second);
      any = true;
      if (source.from != From::each) break;
    }
    return any;
  };
  for (const std::vector<Source>& sources : edges_into(*node)) std::ranges::any_of(sources, add);
  return found;
}

void StageCones::reach(std::size_t at, std::set<std::size_t>& reached) const {
  if (!reached.insert(at).second) return;
  for (const std::size_t from : producers(at)) {
    const bool parameters_alone = runs_[from].stage == StageName::optimizer && runs_[at].stage != StageName::optimizer;
    if (parameters_alone ? runs_[from].shown : runs_[from].observed) continue;
    keeps_count(runs_[from]) ? count_back(from, reached) : reach(from, reached);
  }
}

/// Through what only counts: the run, and those that it counted on from.
void StageCones::count_back(std::size_t at, std::set<std::size_t>& reached) const {
  if (!reached.insert(at).second) return;
  for (const std::size_t from : producers(at))
    if (runs_[from].stage == runs_[at].stage && !runs_[from].observed) count_back(from, reached);
}

const StageRun* StageCones::run_of(const std::string& tap, std::size_t& at) const {
  const TapName name = tap_name_of(tap);
  const auto found = index_.find({name.window, name.micro_batch, name.stage});
  if (found == index_.end()) return nullptr;
  at = found->second;
  return &runs_[at];
}

std::vector<StageRun> StageCones::cone(const std::string& tap) const {
  std::size_t at = 0;
  if (run_of(tap, at) == nullptr) return {};
  std::set<std::size_t> reached;
  reach(at, reached);
  std::vector<StageRun> runs;
  for (const std::size_t i : reached) {
    if (i == at || (i < at && !keeps_count(runs_[i]))) runs.push_back(runs_[i]);
  }
  return runs;
}

std::string StageCones::label(const std::string& tap) const {
  const std::vector<StageRun> runs = cone(tap);
  const TapName name = tap_name_of(tap);
  if (runs.size() < 2) return name.stage;
  const StageRun& first = runs.front();
  if (first.window != name.window) {
    return "w" + std::to_string(first.window) + "/" + first.stage + "..w" + std::to_string(name.window) + "/" +
           name.stage;
  }
  return first.stage == name.stage ? name.stage : first.stage + ".." + name.stage;
}

/// Whether parameters of a later step are there.
bool StageCones::steps_after(const StageRun& run) const {
  return std::any_of(runs_.begin(), runs_.end(), [&](const StageRun& other) {
    return other.stage == StageName::optimizer && other.window > run.window && other.shown;
  });
}

bool StageCones::covers(const std::string& tap) const {
  std::size_t at = 0;
  const StageRun* run = run_of(tap, at);
  if (run == nullptr || !covered_[at]) return false;
  const bool read_later = is_state(tap_name_of(tap)) && oracle::rules_of(c_.recipe.optimizer).moves_by_old_state();
  return !read_later || run->observed || steps_after(*run);
}

namespace {

bool is_input(const std::string& tensor) { return tensor.starts_with("in."); }

/// Whether what a stage left may reach another, itself in the next micro-batch included.
bool precedes(const TapName& a, const TapName& b) {
  if (a.window != b.window) return a.window < b.window;
  if (a.stage == StageName::checkpoint && is_input(a.tensor)) return false;  // it is written down behind all others
  const bool in_time = a.micro_batch < 0 || b.micro_batch < 0 || a.micro_batch <= b.micro_batch;
  return in_time && stage_called(a.stage) <= stage_called(b.stage);
}

/// Whether the stage left anything of the layer or parameter that this input is read for.
bool left_something(const WindowGraph& graph, const Trace& trace, const TapName& missing) {
  const auto work_of = [&](const TapName& name) {
    const Port* port = graph.port(name.stage, name.micro_batch < 0, name.tensor);
    return port == nullptr ? "" : port->of;
  };
  const std::string work = work_of(missing);
  return std::any_of(trace.taps().begin(), trace.taps().end(), [&](const Tap& tap) {
    const bool same_run = tap.name.window == missing.window && tap.name.micro_batch == missing.micro_batch &&
                          tap.name.stage == missing.stage;
    return same_run && !is_input(tap.name.tensor) && (work.empty() || work_of(tap.name) == work);
  });
}

/// An output, or an input of a stage that left no output either.
bool is_missing_work(const WindowGraph& graph, const Trace& trace, const TensorCheck& check) {
  if (check.status != Status::not_run || check.lens != "local") return false;
  const TapName name = tap_name_of(check.tap);
  return is_input(name.tensor) ? !left_something(graph, trace, name) : true;
}

}  // namespace

void name_absent_stage(const Case& c, const Trace& trace, std::vector<TensorCheck>& checks) {
  const TensorCheck* failure = first_failure(checks);
  if (failure == nullptr || failure->lens == "relation") return;
  const TapName at = tap_name_of(failure->tap);
  const WindowGraph graph(c);
  const auto absent = std::find_if(checks.begin(), checks.end(), [&](const TensorCheck& check) {
    return is_missing_work(graph, trace, check) && precedes(tap_name_of(check.tap), at);
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

std::vector<TapName> producers_of(const Case& c, const WindowGraph& graph, const TapName& read) {
  std::vector<TapName> names;
  const Port* port = graph.port(read.stage, read.micro_batch < 0, read.tensor);
  if (port == nullptr) return names;
  for (const Source& source : port->sources)
    for (const NodePlace& place : places_read(c, source, {*stage_called(read.stage), read.window, read.micro_batch}))
      names.push_back({place.window, place.micro_batch, std::string(name_of(place.stage)), source.tensor});
  return names;
}

}  // namespace tally
