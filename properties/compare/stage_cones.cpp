#include "properties/compare/stage_cones.hpp"

#include <algorithm>

#include "kernels/trace/trace.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "oracle/recipe/optimizer_rules.hpp"

namespace tally {
namespace {

/// Stages that only count: what comes of them is known from the case and the skips, so nothing is composed through
/// them.
bool keeps_count(const StageRun& run) { return run.stage == "scaler" || run.stage == "schedule"; }

bool is_state(const TapName& name) { return name.stage == "optimizer" && !parameter_of_state(name.tensor).empty(); }

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
    const bool parameters_alone = runs_[from].stage == "optimizer" && runs_[at].stage != "optimizer";
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
    return other.stage == "optimizer" && other.window > run.window && other.shown;
  });
}

bool StageCones::covers(const std::string& tap) const {
  std::size_t at = 0;
  const StageRun* run = run_of(tap, at);
  if (run == nullptr || !covered_[at]) return false;
  const bool read_later = is_state(tap_name_of(tap)) && oracle::rules_of(c_.recipe.optimizer).moves_by_old_state();
  return !read_later || run->observed || steps_after(*run);
}

}  // namespace tally
