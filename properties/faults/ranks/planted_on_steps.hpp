// What faults of a micro-step's statistics have in common: what all ranks handed over, and what a rank makes of it.
#pragma once

#include <cmath>

#include "oracle/case/micro_steps.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"

namespace tally {

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
