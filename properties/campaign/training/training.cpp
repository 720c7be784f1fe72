// Training runs on real data, the exact trajectory beside them, and how many rows the trained model classifies right.
#include "properties/campaign/training/training.hpp"

#include <cmath>
#include <limits>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/real/real.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally {
namespace {

using Matrix = oracle::Matrix<double>;

/// Parameters after each window, as the subject left them.
ParameterPath path_of(const Case& c, const Trace& trace) {
  ParameterPath path;
  std::map<std::string, Matrix> now;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    for (const std::string& parameter : parameters_of(c.model)) {
      const Tensor* tensor = trace.find("w" + std::to_string(w) + "/optimizer/" + parameter);
      if (!tensor) tensor = w == 0 ? &c.tensors.at(parameter) : nullptr;  // skipped: the parameters stay
      if (!tensor) continue;
      Matrix values(1, static_cast<Eigen::Index>(tensor->elements()));
      for (std::size_t i = 0; i < tensor->elements(); ++i) values.data()[i] = tensor->value(i);
      now[parameter] = std::move(values);
    }
    path.push_back(now);
  }
  return path;
}

/// ||a - b|| / ||b|| over all parameters, for every window.
std::vector<double> distances(const ParameterPath& a, const ParameterPath& b) {
  std::vector<double> all;
  for (std::size_t w = 0; w < std::min(a.size(), b.size()); ++w) {
    double difference = 0, size = 0;
    for (const auto& [parameter, values] : b[w]) {
      difference += (a[w].at(parameter).reshaped() - values.reshaped()).squaredNorm();
      size += values.squaredNorm();
    }
    all.push_back(size > 0 ? std::sqrt(difference / size) : 0);
  }
  return all;
}

/// ||e|| / ||v|| over the parameters each window leaves, from the end-to-end checks; infinite where there is no bound.
std::vector<double> bounds(std::size_t windows, const std::vector<TensorCheck>& checks) {
  std::vector<double> bound(windows, 0), expected(windows, 0);
  for (const TensorCheck& check : checks) {
    if (check.lens != "end_to_end" || check.stage != StageName::optimizer) continue;
    const TapName tap = tap_name_of(check.tap);
    if (!parameter_of_state(tap.tensor).empty()) continue;
    bound[static_cast<std::size_t>(tap.window)] += check.norm_bound * check.norm_bound;
    expected[static_cast<std::size_t>(tap.window)] += check.norm_expected * check.norm_expected;
  }
  for (std::size_t w = 0; w < windows; ++w) {
    bound[w] = expected[w] > 0 ? std::sqrt(bound[w] / expected[w]) : std::numeric_limits<double>::infinity();
  }
  return bound;
}

int skipped_windows(const Case& c, const Trace& trace) {
  int skipped = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const Tensor* found = trace.find("w" + std::to_string(w) + "/overflow_check/found");
    skipped += found && found->integer(0) != 0;
  }
  return skipped;
}

void take_checks(TrainingRecord& record, const CheckedRun& judged) {
  record.status = judged.outcome.status;
  record.message = judged.outcome.message;
  record.checks += judged.outcome.checks.size();
  for (const TensorCheck& check : judged.outcome.checks) {
    if (check.lens == "local") record.worst_local_ratio = std::max(record.worst_local_ratio, check.worst_ratio);
  }
}

}  // namespace

std::vector<TrainingRecord> run_training(const TrainingProblem& problem, const std::vector<Dtype>& precisions,
                                         const RunOptions& subject) {
  std::vector<TrainingRecord> records;
  const Case whole = training_case(problem, problem.cuts.front(), Dtype::fp16);
  const ExactPath full = exact_path(whole, oracle::Branch::full_batch);
  std::map<Dtype, CheckedRun> full_runs;
  for (const BatchCut& cut : problem.cuts) {
    const bool is_full = &cut == &problem.cuts.front();
    const Case exact_case = training_case(problem, cut, Dtype::fp16);
    const ExactPath accumulated =
        is_full || problem.cuts_are_equivalent ? full : exact_path(exact_case, oracle::Branch::accumulated);
    for (const Dtype storage : precisions) {
      const Case c = training_case(problem, cut, storage);
      TrainingRecord record;
      record.dataset = problem.dataset;
      record.model = problem.model;
      record.precision = name_of(storage);
      record.cut = cut.name;
      record.windows = int(c.windows.size());
      CheckedRun judged = run_and_check(c, subject);
      take_checks(record, judged);
      record.checks += accumulated.certified_windows;
      if (record.status == Status::not_run) {
        records.push_back(std::move(record));
        continue;
      }
      if (is_full) full_runs[storage].trace = judged.trace;
      const Trace& full_trace = full_runs.at(storage).trace;
      record.skipped = skipped_windows(c, judged.trace);
      record.semantic_gap = distances(accumulated.parameters, full.parameters);
      record.rounding_drift = distances(path_of(c, judged.trace), accumulated.parameters);
      record.accumulated_minus_full = distances(path_of(c, judged.trace), path_of(whole, full_trace));
      record.bound = bounds(c.windows.size(), judged.outcome.checks);
      record.accuracy_accumulated = accuracy(c, judged.trace);
      record.accuracy_full = accuracy(whole, full_trace);
      if (!accumulated.agrees_at_100_digits) {
        record.status = Status::fail;
        record.message = "the oracle's windows at 113 bits and at 100 digits disagree";
      }
      records.push_back(std::move(record));
    }
  }
  return records;
}

namespace {

using Wide = long double;

/// The last tap `w*/<stage>/<name>` (any micro-batch), or the case's own tensor.
const Tensor& last(const Case& c, const Trace& trace, const std::string& stage, const std::string& name) {
  for (auto tap = trace.taps().rbegin(); tap != trace.taps().rend(); ++tap) {
    if (tap->name.stage == stage && tap->name.tensor == name) return tap->value;
  }
  return c.tensors.at(name);
}

oracle::Tensors<Wide> tensors_of(const Case& c, const Trace& trace, const Layer& l) {
  oracle::Tensors<Wide> tensors;
  for (const LayerTensor& tensor : find_contract("layer", l.kind)->tensors) {
    if (!tensor.present(l) || tensor.role == Role::mask) continue;
    const std::string stage = tensor.role == Role::running ? "running_stats" : "optimizer";
    tensors[tensor.name] = oracle::lift<Wide>(last(c, trace, stage, l.name + "." + tensor.name));
  }
  return tensors;
}

}  // namespace

double accuracy(const Case& c, const Trace& trace) {
  oracle::Matrix<Wide> y = oracle::lift<Wide>(c.tensors.at("x"));
  const auto rows = y.rows();
  for (Layer l : c.model.layers) {
    if (l.kind == kinds::dropout) continue;
    if (l.kind == kinds::batch_norm) l.options["statistics"] = std::string("frozen");
    const auto tensors = tensors_of(c, trace, l);
    y = oracle::exact_layer<Wide>(l.kind).forward({l, tensors, {rows}}, y).y;
  }
  const Tensor& target = c.tensors.at("target");
  int right = 0;
  for (Eigen::Index row = 0; row < rows; ++row) {
    Eigen::Index best = 0;
    y.row(row).maxCoeff(&best);
    right += best == target.integer(static_cast<std::size_t>(row));
  }
  return static_cast<double>(right) / static_cast<double>(rows);
}

namespace {

using oracle::Real;

constexpr unsigned digits_113_bits = 34, digits_certifying = 100;
constexpr std::size_t sample_every = 14;

std::map<std::string, oracle::Matrix<double>> rounded(const oracle::State<Real>& state) {
  std::map<std::string, oracle::Matrix<double>> all;
  for (const auto& [parameter, slot] : state.slots) {
    oracle::Matrix<double> values(1, slot.parameter.size());
    for (Eigen::Index i = 0; i < values.size(); ++i) values.data()[i] = slot.parameter.data()[i].convert_to<double>();
    all.emplace(parameter, std::move(values));
  }
  return all;
}

/// |a - b| <= 10^-25 of the largest parameter, for every parameter: 25 of the 34 digits, as `tally oracle` certifies
/// groups.
bool agree(const oracle::State<Real>& a, const oracle::State<Real>& b) {
  Real largest = 0;
  for (const auto& [parameter, slot] : b.slots) {
    for (const Real& x : slot.parameter.reshaped()) largest = std::max<Real>(largest, abs(x));
  }
  const Real limit = largest * Real("1e-25");
  for (const auto& [parameter, slot] : a.slots) {
    const auto& other = b.slots.at(parameter).parameter;
    for (Eigen::Index i = 0; i < other.size(); ++i) {
      const Real difference = abs(slot.parameter.data()[i] - other.data()[i]);
      if (!(difference <= limit)) return false;
    }
  }
  return true;
}

}  // namespace

ExactPath exact_path(const Case& c, oracle::Branch branch) {
  ExactPath path;
  oracle::set_digits(digits_113_bits);
  auto state = oracle::initial_state<Real>(c);
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    auto next = oracle::evaluate_window<Real>(c, w, branch, state).after;
    if (w % sample_every == 0) {
      oracle::set_digits(digits_certifying);
      const auto again = oracle::evaluate_window<Real>(c, w, branch, state).after;
      path.agrees_at_100_digits = path.agrees_at_100_digits && agree(next, again);
      ++path.certified_windows;
      oracle::set_digits(digits_113_bits);
    }
    state = std::move(next);
    path.parameters.push_back(rounded(state));
  }
  return path;
}

}  // namespace tally
