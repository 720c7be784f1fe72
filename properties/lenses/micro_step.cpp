// A micro-step under a lens that expects: ranks that put its statistics together go through the layers side by side.
#include <optional>

#include "oracle/case/ranks.hpp"
#include "oracle/exact/standardise.hpp"
#include "oracle/window/rank_stages.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/lenses/stages.hpp"

namespace tally {
namespace {

using oracle::Expected;
using oracle::ExpectedTensors;

Expected no_rows(Eigen::Index rows, Eigen::Index columns) {
  return {oracle::Matrix<long double>::Zero(rows, columns), oracle::Matrix<double>::Zero(rows, columns)};
}

class Step {
 public:
  Step(const std::vector<Walk*>& ranks, int k)
      : k_(k), ranks_(ranks), whole_(whole_of(ranks.front()->c)), alone_(ranks.size() < ranks_of(whole_)) {
    const auto window = static_cast<std::size_t>(ranks.front()->window);
    counts_ = step_counts(whole_, window, static_cast<std::size_t>(k));
    for (const std::int64_t count : counts_) rows_ += count;
  }

  void expect() {
    for (Walk* walk : ranks_) {
      walk->micro_batch = k_;
      walk_all_gathered(*walk);
      walk->micro_batch = -1;
      walk->of_group = walk->count_before;
      walk->own_of_group = {};
    }
    const std::vector<LayerView>& layers = ranks_.front()->layers;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const bool shared = pools(whole_, layers[i]);
      if (shared && !share_statistics(i)) return end();
      for (Walk* walk : ranks_) {
        if (has_part(*walk)) walk_forward_of(*walk, i, k_, k_ + 1);
        walk->micro_batch = k_;
        if (shared) walk_running_update(*walk, layers[i], rows_);
        walk->micro_batch = -1;
      }
    }
    for (Walk* walk : ranks_) {
      if (!has_part(*walk)) continue;
      walk->micro_batch = k_;
      walk_loss(*walk);
      walk->micro_batch = -1;
    }
    for (std::size_t i = layers.size(); i-- > 0;) {
      for (Walk* walk : ranks_)
        if (has_part(*walk)) walk_fork(*walk, i, k_, k_ + 1);
      if (layers[i].has_gradient && pools(whole_, layers[i]) && layers[i].gives_dx && !share_gradients(i)) return end();
      for (Walk* walk : ranks_)
        if (has_part(*walk)) walk_backward_of(*walk, i, k_, k_ + 1);
    }
    for (Walk* walk : ranks_) {
      if (has_part(*walk)) {
        walk->count.add(walk->own_of_group);
        walk_shared_parameters(*walk, k_, k_ + 1);
      }
      walk->of_group.reset();
    }
  }

 private:
  bool has_part(const Walk& walk) const { return k_ < walk.micro_batches(); }
  void end() {
    for (Walk* walk : ranks_) {
      walk->ended = true;
      walk->of_group.reset();
    }
  }
  Eigen::Index features_of(const Walk& walk, const LayerView& layer) const {
    return walk.state.running_mean.at(layer.label).read()->v.size();
  }
  Expected output(Walk& walk, const std::string& stage, const std::string& tensor, const Expected& value) const {
    walk.micro_batch = k_;
    const Value left = walk.output(stage, tensor, value);
    walk.micro_batch = -1;
    return *left.read();
  }
  Expected input_of(Walk& walk, std::size_t i) const {
    walk.micro_batch = k_;
    const Value x = layer_input(walk, i, 0, "forward");
    walk.micro_batch = -1;
    return *x.read();
  }

  /// A rank's statistics are known only as far as those of all ranks are.
  void join_decisions() {
    DecisionCount worst;
    for (const Walk* walk : ranks_)
      if (has_part(*walk) && (worst.all == 0 || walk->of_group->share() > worst.share())) worst = *walk->of_group;
    for (Walk* walk : ranks_)
      if (has_part(*walk) && worst.all > 0) walk->of_group = worst;
  }

  /// What the other ranks tapped as handed over, where one rank is alone; false where that is missing.
  bool take_tapped(const LayerView& layer, const std::vector<std::string>& names,
                   std::vector<ExpectedTensors>& handed) const {
    const Walk& own = *ranks_.front();
    for (std::size_t from = 0; alone_ && from < handed.size(); ++from)
      for (const std::string& name : names) {
        if (from == own.c.rank) break;
        const Tensor* tapped = handed_over(own.trace, counts_.size(), from, own.window, k_, step_statistics_stage,
                                           "in." + layer.label + "." + name);
        if (tapped == nullptr) return false;
        handed[from][name] = oracle::as_read(*tapped);
      }
    return true;
  }

  /// What a rank works out of its own rows; zeros where it has none.
  ExpectedTensors own_of(Walk& walk, std::size_t i, StepStatistics by) {
    const LayerView& layer = walk.layers[i];
    ExpectedTensors own;
    if (has_part(walk)) own = oracle::own_statistics(walk.declared, by, input_of(walk, i));
    for (const std::string& name : step_tensors(by))
      own[name] = has_part(walk) ? output(walk, "forward", layer.label + "." + name, own.at(name))
                                 : no_rows(1, features_of(walk, layer));
    return own;
  }

  Expected squares_of(Walk& walk, std::size_t i, const Expected& mean) {
    const LayerView& layer = walk.layers[i];
    if (!has_part(walk)) return no_rows(1, features_of(walk, layer));
    return output(walk, "forward", layer.label + ".squares",
                  oracle::own_squares(walk.declared, input_of(walk, i), mean));
  }

  /// The statistics of all rows at once where all are known here, which is sharper; else of what was handed over.
  std::optional<oracle::PooledStatistics> statistics_of_all(std::size_t i, StepStatistics by) {
    const LayerView& layer = ranks_.front()->layers[i];
    const oracle::Declared& declared = ranks_.front()->declared;
    std::vector<ExpectedTensors> handed(counts_.size());
    std::vector<Expected> rows;
    for (Walk* walk : ranks_) {
      handed[walk->c.rank] = own_of(*walk, i, by);
      rows.push_back(has_part(*walk) ? input_of(*walk, i) : no_rows(0, features_of(*walk, layer)));
    }
    if (!alone_ && ranks_.front()->lens == Lens::end_to_end) {
      auto all = oracle::pooled_statistics(declared, *layer.layer, by, rows);
      for (Walk* walk : ranks_)
        if (by == StepStatistics::two_pass) squares_of(*walk, i, all.mean);
      return all;
    }
    if (!take_tapped(layer, handed_in_step(by), handed)) return {};
    if (by == StepStatistics::two_pass) hold_common_squares(i, handed);
    return oracle::pooled_statistics(declared, *layer.layer, by, counts_, handed);
  }

  /// Around the mean that follows from what was handed over, or that was tapped.
  void hold_common_squares(std::size_t i, std::vector<ExpectedTensors>& handed) {
    const Walk& any = *ranks_.front();
    const LayerView& layer = any.layers[i];
    for (const Walk* walk : ranks_) handed[walk->c.rank]["squares"] = no_rows(1, features_of(*walk, layer));
    const Expected mean =
        oracle::pooled_statistics(any.declared, *layer.layer, StepStatistics::two_pass, counts_, handed).mean;
    for (Walk* walk : ranks_) {
      walk->micro_batch = k_;
      const Expected seen = walk->seen(step_statistics_stage, layer.label + ".mean", mean);
      walk->micro_batch = -1;
      handed[walk->c.rank]["squares"] = squares_of(*walk, i, seen);
    }
  }

  bool share_statistics(std::size_t i) {
    join_decisions();
    const LayerView& layer = ranks_.front()->layers[i];
    const auto all = statistics_of_all(i, step_statistics_of(whole_));
    if (!all) return false;
    for (Walk* walk : ranks_) {
      output(*walk, step_statistics_stage, layer.label + ".count", oracle::scalar(static_cast<long double>(rows_)));
      output(*walk, step_statistics_stage, layer.label + ".mean", all->mean);
      output(*walk, step_statistics_stage, layer.label + ".var", all->var);
      output(*walk, step_statistics_stage, layer.label + ".rstd", all->rstd);
    }
    return true;
  }

  /// Both sums over all rows, where the gradient goes on.
  bool share_gradients(std::size_t i) {
    const LayerView& layer = ranks_.front()->layers[i];
    std::vector<ExpectedTensors> handed(counts_.size());
    for (Walk* walk : ranks_) {
      ExpectedTensors& own = handed[walk->c.rank];
      for (const std::string& name : step_gradient_sums) own[name] = no_rows(1, features_of(*walk, layer));
      if (!has_part(*walk)) continue;
      walk->micro_batch = k_;
      LayerInputs inputs = layer_inputs(*walk, layer, "backward");
      add_step_statistics(*walk, layer, inputs);
      const StageTensor given = gradient_of_output(walk->layers, layer);
      const Value dy = walk->left(given.stage, given.tensor);
      walk->micro_batch = -1;
      const oracle::BoundPass pass{*layer.layer, walk->read(layer, inputs), {}, walk->declared};
      own = oracle::pooled_gradient_sums(pass, input_of(*walk, i), *dy.read());
      for (const std::string& name : step_gradient_sums)
        own[name] = output(*walk, "backward", layer.label + "." + name, own.at(name));
    }
    if (!take_tapped(layer, step_gradient_sums, handed)) return false;
    for (std::size_t tensor = 0; tensor < step_gradient_sums.size(); ++tensor) {
      std::vector<const Expected*> addends;
      for (const ExpectedTensors& own : handed) addends.push_back(&own.at(step_gradient_sums[tensor]));
      const Expected sum = oracle::pooled_sum(ranks_.front()->declared, tensor, step_gradient_sums.size(), addends);
      for (Walk* walk : ranks_)
        output(*walk, step_statistics_stage, layer.label + "." + step_gradient_sums[tensor], sum);
    }
    return true;
  }

  int k_;
  const std::vector<Walk*>& ranks_;
  const Case& whole_;
  bool alone_;
  std::vector<std::int64_t> counts_;
  std::int64_t rows_ = 0;
};

}  // namespace

void walk_micro_step(const std::vector<Walk*>& ranks, int k) { Step(ranks, k).expect(); }

}  // namespace tally
