// Statistics that ranks put together of a micro-step: what each works out of its own rows, and what all have of it.
#include <numeric>
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

const std::string sync = step_statistics_stage;

// Under the local lens.

std::vector<const Tensor*> of_all(const Walk& walk, const std::string& tensor) {
  std::vector<std::size_t> all(ranks_of(whole_of(walk.c)));
  std::iota(all.begin(), all.end(), std::size_t{0});
  return of_ranks(walk, all, sync, tensor);
}

bool has_rows(const Walk& walk) { return walk.micro_batch < walk.micro_batches(); }

/// A rank without rows hands over zeros.
void check_handed(Walk& walk, const LayerView& layer, const std::string& name, const char* worked_out_in) {
  const std::string tensor = "in." + layer.label + "." + name;
  if (has_rows(walk)) {
    walk.input(sync, tensor, walk.left(worked_out_in, layer.label + "." + name));
    return;
  }
  const Tensor* got = walk.tap(sync, tensor);
  const auto features = got == nullptr ? Eigen::Index{0} : static_cast<Eigen::Index>(got->elements());
  walk.exact_output(sync, tensor, [&] { return oracle::Matrix<float>(oracle::Matrix<float>::Zero(1, features)); }, {});
}

/// What all ranks handed over of a layer; nothing where one of them tapped none.
struct HandedByAll {
  std::vector<std::int64_t> counts;
  std::vector<std::map<std::string, const Tensor*>> tensors;
  bool complete = true;

  HandedByAll(const Walk& walk, const LayerView& layer, const std::vector<std::string>& names) {
    for (const Tensor* count : of_all(walk, "in." + layer.label + ".count")) counts.push_back(count->integer(0));
    tensors.resize(counts.size());
    complete = !counts.empty();
    for (const std::string& name : names) {
      const auto all = of_all(walk, "in." + layer.label + "." + name);
      complete = complete && all.size() == counts.size();
      for (std::size_t r = 0; complete && r < all.size(); ++r) tensors[r][name] = all[r];
    }
    complete = complete && std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) > 0;
  }
  /// The tensors of every rank, by name.
  template <class M>
  std::vector<std::map<std::string, M>> read(M (*as)(const Tensor&)) const {
    std::vector<std::map<std::string, M>> all(tensors.size());
    for (std::size_t r = 0; r < tensors.size(); ++r)
      for (const auto& [name, tensor] : tensors[r]) all[r][name] = as(*tensor);
    return all;
  }
};

void check_count(Walk& walk, const LayerView& layer) {
  const std::int64_t own = has_rows(walk) ? walk.rows(walk.micro_batch) : 0;
  walk.output(sync, "in." + layer.label + ".count", oracle::scalar(static_cast<long double>(own)));
  std::int64_t all = 0;
  const std::vector<const Tensor*> counts = of_all(walk, "in." + layer.label + ".count");
  for (const Tensor* each : counts) all += each->integer(0);
  if (counts.empty())
    walk.require_tap(sync, layer.label + ".count");
  else
    walk.output(sync, layer.label + ".count", oracle::scalar(static_cast<long double>(all)));
}

/// Mean, var and rstd of all rows.
void check_pooled(Walk& walk, const LayerView& layer) {
  const StepStatistics by = step_statistics_of(walk.c);
  const HandedByAll handed(walk, layer, handed_in_step(by));
  const std::vector<std::string> outputs{"mean", "var", "rstd"};
  if (!handed.complete) {
    for (const std::string& output : outputs) walk.require_tap(sync, layer.label + "." + output);
    return;
  }
  Evaluation bound(walk.declared, [&](const oracle::Declared& declared) {
    oracle::PooledStatistics all =
        oracle::pooled_statistics(declared, *layer.layer, by, handed.counts, handed.read<Expected>(&oracle::as_read));
    return ExpectedTensors{{"mean", std::move(all.mean)}, {"var", std::move(all.var)}, {"rstd", std::move(all.rstd)}};
  });
  const auto bits = [&] {
    return oracle::pooled_bits(walk.declared, *layer.layer, by, handed.counts,
                               handed.read<oracle::Matrix<float>>(&oracle::floats_of));
  };
  walk.output(sync, layer.label + ".mean", {bound, "mean"}, {}, {[&] { return bits().mean; }});
  walk.output(sync, layer.label + ".var", {bound, "var"}, {}, {[&] { return bits().var; }});
  walk.output(sync, layer.label + ".rstd", {bound, "rstd"}, {}, {[&] { return bits().rstd; }});
}

/// What this rank worked out of its rows, held to them.
void check_own(Walk& walk, const LayerView& layer, const Value& x) {
  const StepStatistics by = step_statistics_of(walk.c);
  Evaluation own(walk.declared,
                 [&](const oracle::Declared& declared) { return oracle::own_statistics(declared, by, *x.read()); });
  for (const std::string& name : step_tensors(by))
    if (!walk.passes_over("forward", layer.label + "." + name))
      walk.output("forward", layer.label + "." + name, {own, name});
  const Value mean = walk.left(sync, layer.label + ".mean");
  if (by != StepStatistics::two_pass || !mean.known() || walk.passes_over("forward", layer.label + ".squares")) return;
  walk.output("forward", layer.label + ".squares",
              [&](const oracle::Declared& declared) { return oracle::own_squares(declared, *x.read(), *mean.read()); });
}

void check_meeting(Walk& walk, const LayerView& layer) {
  check_count(walk, layer);
  for (const std::string& name : handed_in_step(step_statistics_of(walk.c))) check_handed(walk, layer, name, "forward");
  check_pooled(walk, layer);
}

void check_gradients_meeting(Walk& walk, const LayerView& layer) {
  for (const std::string& name : step_gradient_sums) check_handed(walk, layer, name, "backward");
  for (std::size_t i = 0; i < step_gradient_sums.size(); ++i) {
    const std::string tensor = layer.label + "." + step_gradient_sums[i];
    const std::vector<const Tensor*> all = of_all(walk, "in." + tensor);
    if (all.empty()) {
      walk.require_tap(sync, tensor);
      continue;
    }
    const auto bound = [&](const oracle::Declared& declared) {
      std::vector<Expected> read;
      std::vector<const Expected*> addends;
      for (const Tensor* each : all) read.push_back(oracle::as_read(*each));
      for (const Expected& each : read) addends.push_back(&each);
      return oracle::pooled_sum(declared, i, step_gradient_sums.size(), addends);
    };
    const Bits bits{[&] {
                      std::vector<oracle::Matrix<float>> addends;
                      for (const Tensor* each : all) addends.push_back(oracle::floats_of(*each));
                      return oracle::pooled_sum_bits(walk.declared, i, step_gradient_sums.size(), addends);
                    },
                    FailureClass::order};
    walk.output(sync, tensor, bound, {}, bits);
  }
}

}  // namespace

std::vector<std::string> handed_in_step(StepStatistics by) {
  std::vector<std::string> names = step_tensors(by);
  if (by == StepStatistics::two_pass) names.emplace_back("squares");
  return names;
}

void add_step_statistics(const Walk& walk, const LayerView& layer, LayerInputs& inputs) {
  inputs.add(oracle::pooled_mean, walk.left(sync, layer.label + ".mean"));
  inputs.add(oracle::pooled_rstd, walk.left(sync, layer.label + ".rstd"));
}

bool pools(const Case& c, const LayerView& layer) { return layer.step_statistics && in_ranks(c); }

void walk_step_statistics(Walk& walk, const LayerView& layer, const Value& x, LayerInputs& inputs) {
  if (walk.is_local() && x.known()) check_own(walk, layer, x);
  if (walk.is_local()) check_meeting(walk, layer);
  add_step_statistics(walk, layer, inputs);
}

void walk_step_gradients(Walk& walk, const LayerView& layer, const Value& x, const Value& dy, LayerInputs& inputs) {
  add_step_statistics(walk, layer, inputs);
  if (!layer.gives_dx) return;
  if (walk.is_local() && x.known() && dy.known() && inputs.complete) {
    const oracle::BoundPass pass{*layer.layer, walk.read(layer, inputs), {}, walk.declared};
    Evaluation own(walk.declared, [&](const oracle::Declared& declared) {
      return oracle::pooled_gradient_sums(pass.asked(declared), *x.read(), *dy.read());
    });
    for (const std::string& name : step_gradient_sums)
      if (!walk.passes_over("backward", layer.label + "." + name))
        walk.output("backward", layer.label + "." + name, {own, name});
  }
  if (walk.is_local()) check_gradients_meeting(walk, layer);
  inputs.add(oracle::pooled_sum_dy, walk.left(sync, layer.label + ".sum_dy"));
  inputs.add(oracle::pooled_sum_dy_h, walk.left(sync, layer.label + ".sum_dy_h"));
  inputs.add(oracle::pooled_count, walk.left(sync, layer.label + ".count"));
}

void walk_step_without_rows(Walk& walk) {
  const auto step = static_cast<std::size_t>(walk.micro_batch);
  const std::int64_t rows = rows_of_step(walk.c, static_cast<std::size_t>(walk.window), step);
  for (const LayerView& layer : walk.layers) {
    if (!pools(walk.c, layer)) continue;
    check_meeting(walk, layer);
    walk_running_update(walk, layer, rows);
    if (layer.has_gradient && layer.gives_dx) check_gradients_meeting(walk, layer);
  }
}

}  // namespace tally
