// One training run beside its exact trajectory, and beside itself.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "oracle/case/io.hpp"
#include "oracle/exact/trajectory.hpp"
#include "properties/campaign/training/training.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lab/sweeps/drift.hpp"

namespace tally {
namespace {

const TrainingProblem& layer_norm_problem() {
  for (const TrainingProblem& problem : training_problems()) {
    if (problem.dataset == "digits" && problem.model.ends_with("LayerNorm")) return problem;
  }
  throw std::logic_error("there is no digits problem with LayerNorm");
}

const BatchCut& cut_of_four(const TrainingProblem& problem) {
  for (const BatchCut& cut : problem.cuts) {
    if (cut.name == "K=4") return cut;
  }
  throw std::logic_error(problem.title + " has no cut K=4");
}

Tensor first_rows(const Tensor& tensor, std::int64_t rows) {
  Tensor kept(tensor.dtype, tensor.shape);
  kept.bytes.own().resize(tensor.bytes.size() / static_cast<std::size_t>(tensor.shape[0]) *
                          static_cast<std::size_t>(rows));
  std::copy_n(tensor.bytes.begin(), kept.bytes.size(), kept.bytes.begin());
  kept.shape[0] = rows;
  return kept;
}

using Parameters = std::map<std::string, oracle::Matrix<long double>>;

Parameters parameters_in(const oracle::State<long double>& state) {
  Parameters all;
  for (const auto& [name, slot] : state.slots) all.emplace(name, slot.parameter);
  return all;
}

/// What the subject's window left; unchanged where it was skipped.
void take_window(const Trace& trace, std::size_t window, Parameters& parameters) {
  for (auto& [name, values] : parameters) {
    const Tensor* tensor = trace.find("w" + std::to_string(window) + "/optimizer/" + name);
    if (tensor == nullptr) continue;
    for (Eigen::Index i = 0; i < values.size(); ++i) values.data()[i] = tensor->value(static_cast<std::size_t>(i));
  }
}

long double squared_distance(const Parameters& a, const Parameters& b) {
  long double sum = 0;
  for (const auto& [name, values] : a) sum += (values - b.at(name)).squaredNorm();
  return sum;
}

long double squared_size(const Parameters& a) {
  long double sum = 0;
  for (const auto& [name, values] : a) sum += values.squaredNorm();
  return sum;
}

void take_checks(FreeRun& run, const std::vector<TensorCheck>& checks) {
  for (const TensorCheck& check : checks) {
    run.failing += check.status == Status::fail;
    if (check.status == Status::vacuous || check.status == Status::not_run) continue;
    const auto window = static_cast<std::size_t>(tap_name_of(check.tap).window);
    run.local.at(window) = std::max(run.local.at(window), check.worst_ratio);
  }
}

}  // namespace

Case steps_case(Dtype storage, std::size_t windows, std::uint64_t seed) {
  const TrainingProblem& problem = layer_norm_problem();
  Case c = training_case(problem, cut_of_four(problem), storage);
  c.windows.resize(std::min(windows, c.windows.size() - 1));  // the last is short
  const std::int64_t rows = first_row(c, c.windows.size() - 1) + 64;
  for (const char* name : {"x", "target"}) c.tensors.at(name) = first_rows(c.tensors.at(name), rows);
  for (auto& [name, tensor] : c.tensors) {
    if (name.starts_with("fc") && name.ends_with(".weight"))
      draw(tensor, {1, seed * 16 + tensor.drawing->seed, tensor.drawing->family});
  }
  return c;
}

Numbers FreeRun::numbers() const {
  Numbers all{failing, skipped};
  for (const auto* series : {&drift, &distance, &local}) all.insert(all.end(), series->begin(), series->end());
  return all;
}

FreeRun FreeRun::of(const Numbers& numbers) {
  const auto windows = static_cast<std::ptrdiff_t>((numbers.size() - 2) / 3);
  const auto first = numbers.begin() + 2;
  return {{first, first + windows},
          {first + windows, first + 2 * windows},
          {first + 2 * windows, first + 3 * windows},
          numbers.at(0),
          numbers.at(1)};
}

FreeRun free_run(const Case& c, const RunOptions& subject) {
  const Trace trace = run(c, subject);
  FreeRun found;
  auto state = oracle::initial_state<long double>(c);
  const Parameters start = parameters_in(state);
  Parameters now = start;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    state = oracle::evaluate_window<long double>(c, w, oracle::Branch::accumulated, state).after;
    const Parameters exact = parameters_in(state);
    take_window(trace, w, now);
    const long double off = squared_distance(now, exact);
    found.drift.push_back(static_cast<double>(std::sqrt(off / squared_size(exact))));
    found.distance.push_back(static_cast<double>(std::sqrt(off / squared_distance(exact, start))));
    const Tensor* overflow = trace.find("w" + std::to_string(w) + "/overflow_check/found");
    found.skipped += overflow != nullptr && overflow->integer(0) != 0;
  }
  found.local.resize(c.windows.size());
  take_checks(found, local_lens(c, trace));
  return found;
}

}  // namespace tally
