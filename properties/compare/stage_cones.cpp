#include "properties/compare/stage_cones.hpp"

#include <algorithm>

#include "kernels/trace/trace.hpp"
#include "oracle/case/optimizer_state.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "oracle/recipe/optimizer_rules.hpp"
#include "properties/compare/layer_view.hpp"

namespace tally {
namespace {

/// Stages that only count: what comes of them is known from the case and the skips, so nothing is composed through
/// them.
bool keeps_count(const StageRun& run) { return run.stage == "scaler" || run.stage == "schedule"; }

bool is_state(const TapName& name) { return name.stage == "optimizer" && !parameter_of_state(name.tensor).empty(); }

}  // namespace

StageCones::StageCones(const Case& c, const std::vector<TensorCheck>& outputs)
    : c_(c), lockstep_(in_lockstep(layers_of(c.model))) {
  for (const TensorCheck& check : outputs) {
    const TapName name = tap_name_of(check.tap);
    const auto [at, fresh] = index_.emplace(Key{name.window, name.micro_batch, name.stage}, runs_.size());
    if (fresh) runs_.push_back({name.window, name.micro_batch, name.stage, true});
    if (check.status != Status::not_run) continue;
    runs_[at->second].observed = false;
    if (!is_state(name)) runs_[at->second].shown = false;
  }
  covered_.assign(runs_.size(), false);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (!runs_[i].shown) continue;
    std::set<std::size_t> reached;
    reach(i, reached);
    for (const std::size_t j : reached) covered_[j] = true;
  }
}

void StageCones::add(std::vector<std::size_t>& found, int window, int micro_batch, const std::string& stage) const {
  const auto at = index_.find({window, micro_batch, stage});
  if (at != index_.end()) found.push_back(at->second);
}

/// The runs that a run reads from.
std::vector<std::size_t> StageCones::producers(const StageRun& run) const {
  std::vector<std::size_t> found;
  const int w = run.window, m = run.micro_batch;
  const auto window = [&](const std::string& stage) { add(found, w, -1, stage); };
  const auto before = [&](const std::string& stage) {  // in the last window that ran it
    const std::size_t known = found.size();
    for (int earlier = w - 1; earlier >= 0 && found.size() == known; --earlier) add(found, earlier, -1, stage);
  };
  const auto before_of_any = [&](const std::string& stage) {
    before(stage);
    if (w > 0 && m == 0)
      add(found, w - 1, static_cast<int>(c_.windows[static_cast<std::size_t>(w) - 1].size()) - 1, stage);
  };
  const int last = static_cast<int>(c_.windows[static_cast<std::size_t>(w)].size()) - 1;
  const auto micro_batch = [&](const std::string& stage) {
    add(found, w, -1, stage);
    for (int k = 0; k <= last; ++k) {
      if (lockstep_ || k == m) add(found, w, k, stage);
    }
  };
  const auto gradient = [&] { window(index_.contains({w, -1, "clip"}) ? "clip" : "unscale"); };
  const auto buffers = [&] {
    add(found, w, last, index_.contains({w, last, "accumulate"}) ? "accumulate" : "backward");
  };
  const auto steps = static_cast<int>(micro_steps_of(c_, static_cast<std::size_t>(w)));
  const bool totals = communicate_of(c_) == Communicate::running_total;
  const auto summed = [&] {
    if (!in_ranks(c_)) return buffers();
    if (!communicates_each(c_) || replicas_of(c_) > 1) return window("reduce");
    add(found, w, steps - 1, totals ? "reduce" : "accumulate");
  };
  const std::string& stage = run.stage;
  if (stage == "optimizer" || stage == "decay") before("optimizer");
  if (stage == "cast") before(shards_optimizer(c_) && !shards_parameters(c_) ? "gather_updated" : "optimizer");
  if (stage == "all_gather") window("cast");
  if (stage == "gather_updated") window("optimizer");
  if (stage == "forward" || stage == "backward") window("cast"), add(found, w, m, "all_gather");
  if (stage == "forward" && lockstep_) micro_batch("forward");
  if (stage == "running_stats" || stage == "loss" || stage == "backward") micro_batch("forward");
  if (stage == "sync_statistics") add(found, w, m, "forward"), add(found, w, m, "backward");
  if (stage == "forward" || stage == "backward" || stage == "running_stats") add(found, w, m, "sync_statistics");
  const auto moved_before = [&] {  // of ranks a window may have no micro-batch, or begin with the first rank's values
    auto i = static_cast<std::size_t>(&run - runs_.data());
    while (i > 0 && runs_[i - 1].stage != stage) --i;
    if (i > 0 && !(m < 0 && c_.rank > 0)) found.push_back(i - 1);
  };
  if (stage == "running_stats" && in_ranks(c_))
    moved_before();
  else if (stage == "running_stats")
    m > 0 ? add(found, w, m - 1, stage) : before_of_any(stage);
  if (stage == "backward") micro_batch("loss");
  if (stage == "backward") micro_batch("fork");  // the two take turns, layer by layer
  if (stage == "fork") micro_batch("backward");
  if (stage == "fork") micro_batch("loss");
  if (stage == "accumulate") micro_batch("backward");
  if (stage == "accumulate" && m > 0) add(found, w, m - 1, totals ? "reduce" : stage);
  if (stage == "accumulate" && !totals) add(found, w, m, "reduce");
  if (stage == "reduce" && m < 0 && replicas_of(c_) > 1) add(found, w, steps - 1, "accumulate");
  if (stage == "reduce" && m < 0 && replicas_of(c_) == 1) buffers();
  if (stage == "reduce" && m >= 0) add(found, w, m, totals ? "accumulate" : "backward");
  if (stage == "reduce" && m > last && totals) add(found, w, m - 1, stage);
  if (stage == "overflow_check") summed();
  if (stage == "agree") window("overflow_check");
  if (stage == "unscale") summed();
  if (stage == "unscale" || stage == "scaler" || stage == "schedule") window("overflow_check");
  if (stage == "norm" || stage == "clip") window("unscale");
  if (stage == "clip") window("norm");
  if (stage == "decay" || stage == "optimizer") gradient();
  if (stage == "optimizer") window("decay");
  if (stage == "optimizer") window("schedule");  // the rate that this window used
  if (stage == "optimizer") {  // the count that every window kept which was skipped since the last step
    for (int skipped = w - 1; skipped >= 0 && !index_.contains({skipped, -1, "optimizer"}); --skipped)
      add(found, skipped, -1, "schedule");
  }
  if (stage == "loss" || stage == "unscale" || stage == "scaler") before("scaler");
  return found;
}

void StageCones::reach(std::size_t at, std::set<std::size_t>& reached) const {
  if (!reached.insert(at).second) return;
  for (const std::size_t from : producers(runs_[at])) {
    const bool parameters_alone = runs_[from].stage == "optimizer" && runs_[at].stage != "optimizer";
    if (parameters_alone ? runs_[from].shown : runs_[from].observed) continue;
    keeps_count(runs_[from]) ? void(reached.insert(from)) : reach(from, reached);
  }
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
