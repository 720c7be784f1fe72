#include "properties/compare/end_to_end_step.hpp"

#include <optional>

#include "oracle/case/micro_steps.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/layers/pooled_norm.hpp"
#include "oracle/window/step_statistics.hpp"
#include "properties/compare/local_step.hpp"
#include "properties/compare/ranks_of_trace.hpp"

namespace tally {
namespace {

using oracle::Expected;
using oracle::ExpectedTensors;

const std::string pooling = "sync_statistics";

/// A rank in the step; no group where it has no rows.
struct Part {
  EndToEndWalk& walk;
  std::optional<Group> group;
  std::optional<BackwardPass> backward;
  Expected dy;
};

Expected zeros(Eigen::Index rows, Eigen::Index columns) {
  return {oracle::Matrix<long double>::Zero(rows, columns), oracle::Matrix<double>::Zero(rows, columns)};
}

/// An output of the step under way, held and then gone on with.
Expected held(Part& part, int k, const std::string& stage, const std::string& tensor, const Expected& expected) {
  part.walk.micro_batch = k;
  Evaluation evaluation = evaluation_of([&] { return expected; });
  const DecisionCount behind = part.group ? part.group->count : part.walk.count_before;
  part.walk.check_output(stage, tensor, {evaluation}, behind);
  Expected seen = part.walk.seen(stage, tensor, expected);
  part.walk.micro_batch = -1;
  return seen;
}

class Step {
 public:
  Step(const std::vector<EndToEndWalk*>& ranks, int k)
      : k_(k), whole_(whole_of(ranks.front()->c)), alone_(ranks.size() < ranks_of(whole_)) {
    const auto window = static_cast<std::size_t>(ranks.front()->window);
    counts_ = step_counts(whole_, window, static_cast<std::size_t>(k));
    for (const std::int64_t count : counts_) rows_ += count;
    for (EndToEndWalk* walk : ranks) {
      Part& part = parts_.emplace_back(Part{*walk, {}, {}, {}});
      if (k >= walk->micro_batches()) continue;
      part.group.emplace();
      part.group->first = k;
      part.group->last = k + 1;
      part.group->count = walk->count_before;
    }
  }

  void expect() {
    for (Part& part : parts_) {
      expect_all_gathered(part.walk, k_, "");
      if (part.group) begin_forward(part.walk, *part.group);
    }
    const std::vector<LayerView>& layers = parts_.front().walk.layers;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const bool shared = pools(whole_, layers[i]);
      if (shared && !share_statistics(i)) return end();
      for (Part& part : parts_) {
        if (part.group) expect_layer(part.walk, *part.group, i);
        if (shared) move_running(part, layers[i]);
      }
    }
    for (Part& part : parts_) {
      if (part.group) expect_loss(part.walk, *part.group);
      expect_all_gathered(part.walk, k_, "again.");
      if (part.group) part.backward.emplace(part.walk, *part.group);
    }
    for (std::size_t i = layers.size(); i-- > 0;)
      if (layers[i].has_gradient && !go_back(i)) return end();
    for (Part& part : parts_) {
      if (part.backward) part.backward->finish();
      part.walk.pooled.clear();
    }
  }

 private:
  void end() {
    for (Part& part : parts_) part.walk.ended = true;
  }

  Eigen::Index features_of(const Part& part, const LayerView& layer) const {
    return part.walk.state.running_mean.at(layer.label).v.size();
  }

  /// Every rank knows what its statistics come to only as far as the others know theirs.
  void join_decisions() {
    DecisionCount worst;
    for (const Part& part : parts_)
      if (part.group && (worst.all == 0 || part.group->count.share() > worst.share())) worst = part.group->count;
    for (Part& part : parts_)
      if (part.group && worst.all > 0) part.group->count = worst;
  }

  /// What another rank tapped as handed over, of the names; false where one is missing.
  bool take_tapped(const Part& part, std::size_t from, const LayerView& layer, const std::vector<std::string>& names,
                   ExpectedTensors& into) const {
    for (const std::string& name : names) {
      const Tensor* tapped = handed_over(part.walk.trace, counts_.size(), from, part.walk.window, k_, pooling,
                                         "in." + layer.label + "." + name);
      if (tapped == nullptr) return false;
      into[name] = oracle::as_read(*tapped);
    }
    return true;
  }

  /// What a rank works out of its own rows; zeros where it has none.
  ExpectedTensors own_of(Part& part, std::size_t i, StepStatistics by) {
    const LayerView& layer = part.walk.layers[i];
    ExpectedTensors own;
    if (part.group) own = oracle::own_statistics(part.walk.declared, by, part.group->input_of(layer));
    for (const std::string& name : step_tensors(by)) {
      if (part.group)
        own[name] = held(part, k_, "forward", layer.label + "." + name, own.at(name));
      else
        own[name] = zeros(1, features_of(part, layer));
    }
    return own;
  }

  void hold_squares(Part& part, std::size_t i, const Expected& mean, ExpectedTensors& own) {
    const LayerView& layer = part.walk.layers[i];
    own["squares"] = zeros(1, features_of(part, layer));
    if (!part.group) return;
    const Expected squares = oracle::own_squares(part.walk.declared, part.group->input_of(layer), mean);
    own["squares"] = held(part, k_, "forward", layer.label + ".squares", squares);
  }

  /// Of all rows at once where all are known here, which is sharper; else of what was handed over.
  std::optional<oracle::PooledStatistics> statistics_of_all(std::size_t i, StepStatistics by) {
    const LayerView& layer = parts_.front().walk.layers[i];
    const oracle::Declared& declared = parts_.front().walk.declared;
    std::vector<ExpectedTensors> handed(counts_.size());
    std::vector<Expected> rows;
    for (Part& part : parts_) {
      handed[part.walk.c.rank] = own_of(part, i, by);
      rows.push_back(part.group ? part.group->input_of(layer) : zeros(0, features_of(part, layer)));
    }
    if (!alone_ && !parts_.front().walk.resynchronise) {
      auto all = oracle::pooled_statistics(declared, *layer.layer, by, rows);
      for (Part& part : parts_)
        if (by == StepStatistics::two_pass) hold_squares(part, i, all.mean, handed[part.walk.c.rank]);
      return all;
    }
    std::vector<std::string> names = step_tensors(by);
    if (by == StepStatistics::two_pass) names.emplace_back("squares");
    for (std::size_t from = 0; alone_ && from < handed.size(); ++from)
      if (from != parts_.front().walk.c.rank && !take_tapped(parts_.front(), from, layer, names, handed[from]))
        return {};
    if (by == StepStatistics::two_pass) hold_common_squares(i, handed);
    return oracle::pooled_statistics(declared, *layer.layer, by, counts_, handed);
  }

  /// Around the mean that follows from what was handed over, or that was tapped.
  void hold_common_squares(std::size_t i, std::vector<ExpectedTensors>& handed) {
    const LayerView& layer = parts_.front().walk.layers[i];
    for (Part& part : parts_) handed[part.walk.c.rank]["squares"] = zeros(1, features_of(part, layer));
    const Expected mean =
        oracle::pooled_statistics(parts_.front().walk.declared, *layer.layer, StepStatistics::two_pass, counts_, handed)
            .mean;
    for (Part& part : parts_) {
      part.walk.micro_batch = k_;
      const Expected seen = part.walk.seen(pooling, layer.label + ".mean", mean);
      part.walk.micro_batch = -1;
      hold_squares(part, i, seen, handed[part.walk.c.rank]);
    }
  }

  bool share_statistics(std::size_t i) {
    join_decisions();
    const LayerView& layer = parts_.front().walk.layers[i];
    const auto all = statistics_of_all(i, step_statistics_of(whole_));
    if (!all) return false;
    for (Part& part : parts_) {
      held(part, k_, pooling, layer.label + ".count", oracle::scalar(static_cast<long double>(rows_)));
      ExpectedTensors& pooled = part.walk.pooled[layer.label];
      pooled.clear();
      pooled[oracle::pooled_mean] = held(part, k_, pooling, layer.label + ".mean", all->mean);
      pooled["var"] = held(part, k_, pooling, layer.label + ".var", all->var);
      pooled[oracle::pooled_rstd] = held(part, k_, pooling, layer.label + ".rstd", all->rstd);
    }
    return true;
  }

  void move_running(Part& part, const LayerView& layer) {
    const ExpectedTensors& pooled = part.walk.pooled.at(layer.label);
    Expected &mean = part.walk.state.running_mean[layer.label], &var = part.walk.state.running_var[layer.label];
    const oracle::Declared& declared = part.walk.declared;
    mean = held(part, k_, "running_stats", layer.label + ".running_mean",
                oracle::running_mean(declared, *layer.layer, mean, pooled.at(oracle::pooled_mean)));
    var = held(part, k_, "running_stats", layer.label + ".running_var",
               oracle::running_var(declared, *layer.layer, var, pooled.at("var"), rows_));
  }

  /// Both sums over all rows, where the gradient goes on.
  bool share_gradients(std::size_t i) {
    const LayerView& layer = parts_.front().walk.layers[i];
    const std::vector<std::string> names{"sum_dy", "sum_dy_h"};
    std::vector<ExpectedTensors> handed(counts_.size());
    for (Part& part : parts_) {
      ExpectedTensors& own = handed[part.walk.c.rank];
      for (const std::string& name : names) own[name] = zeros(1, features_of(part, layer));
      if (!part.group) continue;
      const ExpectedTensors tensors = expected_inputs(part.walk, layer, part.walk.first_row_of(k_), part.walk.rows(k_));
      const oracle::BoundPass pass{*layer.layer, tensors, {}, part.walk.declared};
      own = oracle::pooled_gradient_sums(pass, part.group->input_of(layer), part.dy);
      for (const std::string& name : names)
        own[name] = held(part, k_, "backward", layer.label + "." + name, own.at(name));
    }
    for (std::size_t from = 0; alone_ && from < handed.size(); ++from)
      if (from != parts_.front().walk.c.rank && !take_tapped(parts_.front(), from, layer, names, handed[from]))
        return false;
    for (std::size_t tensor = 0; tensor < names.size(); ++tensor) {
      std::vector<const Expected*> addends;
      for (const ExpectedTensors& own : handed) addends.push_back(&own.at(names[tensor]));
      const Expected sum = oracle::pooled_sum(parts_.front().walk.declared, tensor, names.size(), addends);
      for (Part& part : parts_)
        part.walk.pooled[layer.label]["pooled." + names[tensor]] =
            held(part, k_, pooling, layer.label + "." + names[tensor], sum);
    }
    for (Part& part : parts_)
      part.walk.pooled[layer.label][oracle::pooled_count] = oracle::scalar(static_cast<long double>(rows_));
    return true;
  }

  bool go_back(std::size_t i) {
    const LayerView& layer = parts_.front().walk.layers[i];
    for (Part& part : parts_)
      if (part.backward) part.dy = part.backward->gradient_of(i);
    if (pools(whole_, layer) && layer.gives_dx && !share_gradients(i)) return false;
    for (Part& part : parts_)
      if (part.backward) part.backward->go_through(i, part.dy);
    return true;
  }

  int k_;
  const Case& whole_;
  bool alone_;
  std::vector<std::int64_t> counts_;
  std::int64_t rows_ = 0;
  std::deque<Part> parts_;
};

}  // namespace

void expect_micro_step(const std::vector<EndToEndWalk*>& ranks, int k) { Step(ranks, k).expect(); }

}  // namespace tally
