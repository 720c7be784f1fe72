#include "properties/compare/local_step.hpp"

#include <numeric>

#include "oracle/case/micro_steps.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/layers/pooled_norm.hpp"
#include "oracle/window/step_statistics.hpp"

namespace tally {
namespace {

using oracle::Expected;
using oracle::ExpectedTensors;

const std::string sync = "sync_statistics";

std::vector<const Tensor*> of_all(const LocalWalk& walk, const std::string& tensor) {
  std::vector<std::size_t> all(ranks_of(whole_of(walk.c)));
  std::iota(all.begin(), all.end(), std::size_t{0});
  return of_ranks(walk, all, sync, tensor);
}

bool has_rows(const LocalWalk& walk) { return walk.micro_batch < walk.micro_batches(); }

/// A rank without rows hands over zeros.
void check_handed(LocalWalk& walk, const LayerView& layer, const std::string& name, const char* worked_out_in) {
  const std::string tensor = "in." + layer.label + "." + name;
  if (has_rows(walk)) {
    walk.handed(sync, tensor, walk.tap(worked_out_in, layer.label + "." + name));
    return;
  }
  const Tensor* got = walk.tap(sync, tensor);
  const auto features = got == nullptr ? Eigen::Index{0} : static_cast<Eigen::Index>(got->elements());
  walk.check_bits(sync, tensor, [&] { return oracle::Matrix<float>(oracle::Matrix<float>::Zero(1, features)); });
}

/// What all ranks handed over of a layer; nothing where one of them tapped none.
struct HandedByAll {
  std::vector<std::int64_t> counts;
  std::vector<std::map<std::string, const Tensor*>> tensors;
  bool complete = true;

  HandedByAll(const LocalWalk& walk, const LayerView& layer, const std::vector<std::string>& names) {
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
  std::vector<ExpectedTensors> read() const {
    std::vector<ExpectedTensors> all(tensors.size());
    for (std::size_t r = 0; r < tensors.size(); ++r)
      for (const auto& [name, tensor] : tensors[r]) all[r][name] = oracle::as_read(*tensor);
    return all;
  }
  std::vector<std::map<std::string, oracle::Matrix<float>>> floats() const {
    std::vector<std::map<std::string, oracle::Matrix<float>>> all(tensors.size());
    for (std::size_t r = 0; r < tensors.size(); ++r)
      for (const auto& [name, tensor] : tensors[r]) all[r][name] = oracle::floats_of(*tensor);
    return all;
  }
};

void check_count(LocalWalk& walk, const LayerView& layer) {
  const std::int64_t own = has_rows(walk) ? walk.rows(walk.micro_batch) : 0;
  walk.check_output(sync, "in." + layer.label + ".count", oracle::scalar(static_cast<long double>(own)));
  std::int64_t all = 0;
  const std::vector<const Tensor*> counts = of_all(walk, "in." + layer.label + ".count");
  for (const Tensor* each : counts) all += each->integer(0);
  if (counts.empty())
    walk.require_tap(sync, layer.label + ".count");
  else
    walk.check_output(sync, layer.label + ".count", oracle::scalar(static_cast<long double>(all)));
}

/// Mean, var and rstd of all rows.
void check_pooled(LocalWalk& walk, const LayerView& layer, const std::vector<std::string>& names) {
  const StepStatistics by = step_statistics_of(walk.c);
  const HandedByAll handed(walk, layer, names);
  const std::vector<std::string> outputs{"mean", "var", "rstd"};
  if (!handed.complete) {
    for (const std::string& output : outputs) walk.require_tap(sync, layer.label + "." + output);
    return;
  }
  Evaluation bound([&] {
    oracle::PooledStatistics all =
        oracle::pooled_statistics(walk.declared, *layer.layer, by, handed.counts, handed.read());
    return ExpectedTensors{{"mean", std::move(all.mean)}, {"var", std::move(all.var)}, {"rstd", std::move(all.rstd)}};
  });
  const auto bits = [&] {
    return oracle::pooled_bits(walk.declared, *layer.layer, by, handed.counts, handed.floats());
  };
  walk.check_output(sync, layer.label + ".mean", {bound, "mean"}, {}, {[&] { return bits().mean; }});
  walk.check_output(sync, layer.label + ".var", {bound, "var"}, {}, {[&] { return bits().var; }});
  walk.check_output(sync, layer.label + ".rstd", {bound, "rstd"}, {}, {[&] { return bits().rstd; }});
}

/// What this rank worked out of its rows, held to them.
void check_own(LocalWalk& walk, const LayerView& layer, const Tensor& x) {
  const StepStatistics by = step_statistics_of(walk.c);
  Evaluation own([&] { return oracle::own_statistics(walk.declared, by, oracle::as_read(x)); });
  for (const std::string& name : step_tensors(by))
    if (!walk.passes_over("forward", layer.label + "." + name))
      walk.check_output("forward", layer.label + "." + name, {own, name});
  const Tensor* mean = walk.tap(sync, layer.label + ".mean");
  if (by != StepStatistics::two_pass || mean == nullptr || walk.passes_over("forward", layer.label + ".squares"))
    return;
  walk.check_output("forward", layer.label + ".squares",
                    [&] { return oracle::own_squares(walk.declared, oracle::as_read(x), oracle::as_read(*mean)); });
}

void check_meeting(LocalWalk& walk, const LayerView& layer) {
  const StepStatistics by = step_statistics_of(walk.c);
  std::vector<std::string> names = step_tensors(by);
  if (by == StepStatistics::two_pass) names.emplace_back("squares");
  check_count(walk, layer);
  for (const std::string& name : names) check_handed(walk, layer, name, "forward");
  check_pooled(walk, layer, names);
}

void add_given(LayerInputs& inputs, const char* name, const Tensor* tensor) {
  inputs.complete = inputs.complete && tensor != nullptr;
  if (tensor != nullptr) inputs.tensors[name] = tensor;
}

void add_statistics(LocalWalk& walk, const LayerView& layer, LayerInputs& inputs) {
  add_given(inputs, oracle::pooled_mean, walk.tap(sync, layer.label + ".mean"));
  add_given(inputs, oracle::pooled_rstd, walk.tap(sync, layer.label + ".rstd"));
}

constexpr const char* gradient_sums[] = {"sum_dy", "sum_dy_h"};

void check_gradients_meeting(LocalWalk& walk, const LayerView& layer) {
  for (const char* name : gradient_sums) check_handed(walk, layer, name, "backward");
  for (std::size_t i = 0; i < std::size(gradient_sums); ++i) {
    const std::string tensor = layer.label + "." + gradient_sums[i];
    const std::vector<const Tensor*> all = of_all(walk, "in." + tensor);
    if (all.empty()) {
      walk.require_tap(sync, tensor);
      continue;
    }
    const auto bound = [&] {
      std::vector<Expected> read;
      std::vector<const Expected*> addends;
      for (const Tensor* each : all) read.push_back(oracle::as_read(*each));
      for (const Expected& each : read) addends.push_back(&each);
      return oracle::pooled_sum(walk.declared, i, std::size(gradient_sums), addends);
    };
    const Bits bits{[&] {
                      std::vector<oracle::Matrix<float>> addends;
                      for (const Tensor* each : all) addends.push_back(oracle::floats_of(*each));
                      return oracle::pooled_sum_bits(walk.declared, i, std::size(gradient_sums), addends);
                    },
                    FailureClass::order};
    walk.check_output(sync, tensor, bound, {}, bits);
  }
}

}  // namespace

bool pools(const Case& c, const LayerView& layer) { return layer.step_statistics && in_ranks(c); }

void check_step_statistics(LocalWalk& walk, const LayerView& layer, const Tensor* x, LayerInputs& inputs) {
  if (x != nullptr) check_own(walk, layer, *x);
  check_meeting(walk, layer);
  add_statistics(walk, layer, inputs);
}

void check_step_gradients(LocalWalk& walk, const LayerView& layer, const Tensor* x, const Tensor* dy,
                          LayerInputs& inputs) {
  add_statistics(walk, layer, inputs);
  if (!layer.gives_dx) return;
  if (x != nullptr && dy != nullptr && inputs.complete) {
    const oracle::BoundPass pass{*layer.layer, walk.read(layer, inputs), {}, walk.declared};
    Evaluation own([&] { return oracle::pooled_gradient_sums(pass, oracle::as_read(*x), oracle::as_read(*dy)); });
    for (const char* name : gradient_sums)
      if (!walk.passes_over("backward", layer.label + "." + name))
        walk.check_output("backward", layer.label + "." + name, {own, name});
  }
  check_gradients_meeting(walk, layer);
  add_given(inputs, oracle::pooled_sum_dy, walk.tap(sync, layer.label + ".sum_dy"));
  add_given(inputs, oracle::pooled_sum_dy_h, walk.tap(sync, layer.label + ".sum_dy_h"));
  add_given(inputs, oracle::pooled_count, walk.tap(sync, layer.label + ".count"));
}

void check_step_without_rows(LocalWalk& walk) {
  const auto step = static_cast<std::size_t>(walk.micro_batch);
  const std::int64_t rows = rows_of_step(walk.c, static_cast<std::size_t>(walk.window), step);
  for (const LayerView& layer : walk.layers) {
    if (!pools(walk.c, layer)) continue;
    check_meeting(walk, layer);
    check_update(walk, layer, rows);
    if (layer.has_gradient && layer.gives_dx) check_gradients_meeting(walk, layer);
  }
}

}  // namespace tally
