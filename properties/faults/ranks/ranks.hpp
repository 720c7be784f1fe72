// What faults of ranks have in common: who runs among how many, a checkpoint read otherwise, the statistics of a
// micro-step.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ranks/buckets.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/training_step/ranks/checkpoint.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {

/// 1 and 0 where one rank trains alone.
inline int ranks(const Run& run) { return run.options.link == nullptr ? 1 : run.options.link->size(); }
inline int rank(const Run& run) { return run.options.link == nullptr ? 0 : run.options.link->rank(); }

/// Whether buffers are added up once a window and their sum is left as it is: what the faults of a sum change.
inline bool sums_buffers_alone(const Run& run) {
  return !communicates_each(run.c) && !rank_division(run.c, static_cast<std::size_t>(ranks(run))).around_the_sum;
}

/// Every number times a constant of the division, as a kernel stores it on the wire.
inline Tensor times_constant(const Run& run, const Tensor& all, float constant) {
  Tensor on_wire(wire_of(run.c), all.shape);
  for (std::size_t i = 0; i < all.elements(); ++i)
    on_wire.set(i, static_cast<double>(static_cast<float>(all.value(i)) * constant));
  return on_wire;
}

/// What every rank of a link brings of a tensor, by rank.
inline std::vector<Tensor> brought_by_all(Link& link, const std::string& about, const Tensor& own) {
  std::vector<Tensor> all(static_cast<std::size_t>(link.size()), own);
  for (int to = 0; to < link.size(); ++to)
    if (to != link.rank()) link.send(to, about, {own.bytes.data(), own.bytes.size()});
  for (int from = 0; from < link.size(); ++from) {
    Tensor& theirs = all[static_cast<std::size_t>(from)];
    if (from != link.rank()) link.receive(from, about, {theirs.bytes.data(), theirs.bytes.size()});
  }
  return all;
}

/// sum = fl(sum + addend) in fp32, stored in the wire's format.
inline void add_on_wire(Tensor& sum, const Tensor& addend) {
  for (std::size_t i = 0; i < sum.elements(); ++i)
    sum.set(i, static_cast<double>(static_cast<float>(sum.value(i)) + static_cast<float>(addend.value(i))));
}

/// Taps what every parameter's sum came to once more, behind what changed it.
inline void tap_sums(Run& run) {
  for (const Parameter& parameter : run.parameters) run.tap("reduce", "reduced." + parameter.name, parameter.buffer);
}

/// The shipped stage, then `sum_of` what all ranks let travel of each parameter in the place of its sum, in some elements.
template <class SumOf>
void sum_otherwise(Run& run, const char* about, SumOf sum_of) {
  const RankDivision division = rank_division(run.c, static_cast<std::size_t>(ranks(run)));
  std::vector<Tensor> own;
  for (const Parameter& parameter : run.parameters)
    own.push_back(times_constant(run, parameter.buffer.read(), division.front));
  stage::reduce(run);
  for (std::size_t p = 0; p < own.size(); ++p) {
    Parameter& parameter = run.parameters[p];
    const auto all = brought_by_all(*run.options.link, std::string(about) + ", " + parameter.name, own[p]);
    const Tensor sum = times_constant(run, sum_of(all), division.behind);
    change(run, parameter.buffer, [&](std::size_t i, double value) { return hits(i) ? sum.value(i) : value; });
  }
  tap_sums(run);
}

/// What keeps the sums over ranks: the parameters, or this rank's pieces of them.
inline std::deque<Parameter>& keepers_of_sums(Run& run) {
  return shards_gradients(run.c) ? run.shards : run.parameters;
}

// What faults of a checkpoint have in common: it is read otherwise than it was written.

/// The buckets of the ranks that load, and how many elements of parameters each holds.
inline std::vector<Bucket> buckets_of_run(const Run& run) {
  std::vector<std::int64_t> sizes;
  for (const Parameter& parameter : run.parameters) sizes.push_back(parameter.elements);
  return buckets_of(run.c, static_cast<std::size_t>(ranks(run)), sizes);
}
inline std::int64_t held_by(const Run& run, const Bucket& bucket) {
  std::int64_t held = 0;
  for (const Bucket::Place& place : bucket.places) held += run.parameters[place.parameter].elements;
  return held;
}

/// What the tensors of a checkpoint that every parameter has one of begin with: nothing of the parameters themselves,
/// "exp_avg." of a tensor of the optimizer.
inline std::vector<std::string> kinds_of(const Run& run, const Checkpoint& from) {
  std::vector<std::string> kinds{""};
  for (const StateTensor* each : state_of(run.c.recipe.optimizer))
    if (from.tensors.contains(each->name + "." + run.parameters.front().name)) kinds.push_back(each->name + ".");
  return kinds;
}

/// Element i, moved towards what the fault reads in its place.
inline void misread(Tensor& tensor, std::int64_t i, double wrong) {
  const auto at = static_cast<std::size_t>(i);
  if (const double right = tensor.value(at); right != wrong) tensor.set(at, blend(right, wrong));
}

/// `replaced_load<f>` is the shipped table with the loading of a checkpoint replaced.
template <void (*Function)(Run&, const Checkpoint&)>
const Stages& replaced_load() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.load_checkpoint = Function;
    return copy;
  }();
  return stages;
}

// What faults of a micro-step's statistics have in common: what all ranks handed over, and what a rank makes of it.

/// The shipped table with this in the place of what puts statistics together.
template <void (*Function)(Run&, LayerState&, StepPart)>
const Stages& with_sync() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.sync_statistics = Function;
    return copy;
  }();
  return stages;
}

inline std::string about_step(const Run& run, const LayerState& layer, const char* what) {
  return "w" + std::to_string(run.window) + "/m" + std::to_string(run.micro_batch) + "/sync_statistics, " +
         layer.label + ", planted " + what;
}

/// Leaves the numbers of one statistic that lie between those that stand there and others, and taps them once more.
template <class Other>
void leave(Run& run, const LayerState& layer, const DeviceTensor& statistic, const char* name, Other other) {
  change(run, statistic.row(0), Dtype::fp32, layer.in,
         [&](std::size_t i, double right) { return blend(right, other(i)); });
  run.tap("sync_statistics", layer.label + "." + name, statistic.row(0), Dtype::fp32, {layer.in});
}

/// How many rows of the micro-step each rank has.
inline std::vector<Tensor> rows_on_ranks(Run& run, const LayerState& layer) {
  Tensor own(Dtype::fp32, {});
  own.set(0, run.has_micro_batch() ? static_cast<double>(run.rows(run.micro_batch)) : 0);
  return brought_by_all(*run.options.link, about_step(run, layer, "rows"), own);
}

/// A micro-step behind the shipped stage: `first` and `second` are what this rank handed over.
class StepOnRanks {
 public:
  StepOnRanks(Run& run, LayerState& layer, const Tensor& first, const Tensor& second)
      : run_(run),
        layer_(layer),
        first_(brought_by_all(*run.options.link, about_step(run, layer, "first"), first)),
        second_(brought_by_all(*run.options.link, about_step(run, layer, "second"), second)) {
    for (const Tensor& each : rows_on_ranks(run, layer)) rows_.push_back(each.value(0));
  }

  double own_rows() const { return rows_[static_cast<std::size_t>(rank(run_))]; }

  /// Statistics in which a rank with rows has as many as `count` says of its true number.
  template <class Count>
  void write(Count count, StepPart part) const {
    const StepStatistics by = step_statistics_of(run_.c);
    std::vector<double> counted;
    for (const double rows : rows_) counted.push_back(rows > 0 ? count(rows) : 0);
    const auto mean = [&](std::size_t i) {
      return by == StepStatistics::moments ? weighed(first_, counted, i) : added(first_, i) / total(counted);
    };
    const auto var = [&](std::size_t i) {
      if (by == StepStatistics::two_pass) return added(first_, i) / total(counted);
      if (by == StepStatistics::sums) return std::max(0.0, added(second_, i) / total(counted) - mean(i) * mean(i));
      double between = 0;
      for (std::size_t r = 0; r < rows_.size(); ++r)
        between += counted[r] / total(counted) * std::pow(first_[r].value(i) - mean(i), 2);
      return weighed(second_, counted, i) + between;
    };
    if (part == StepPart::statistics) leave(run_, layer_, layer_.mean, "mean", mean);
    if (part == StepPart::statistics && by == StepStatistics::two_pass) return;
    const double eps = layer_.layer->number("eps").to_double();
    leave(run_, layer_, layer_.var, "var", var);
    leave(run_, layer_, layer_.rstd, "rstd", [&](std::size_t i) { return 1 / std::sqrt(var(i) + eps); });
  }

 private:
  static double total(const std::vector<double>& counted) {
    double all = 0;
    for (const double each : counted) all += each;
    return all;
  }
  static double added(const std::vector<Tensor>& all, std::size_t i) {
    double sum = 0;
    for (const Tensor& each : all) sum += each.value(i);
    return sum;
  }
  static double weighed(const std::vector<Tensor>& all, const std::vector<double>& counted, std::size_t i) {
    double sum = 0;
    for (std::size_t r = 0; r < all.size(); ++r) sum += counted[r] * all[r].value(i);
    return sum / total(counted);
  }

  Run& run_;
  LayerState& layer_;
  std::vector<Tensor> first_, second_;
  std::vector<double> rows_;
};

}  // namespace tally
