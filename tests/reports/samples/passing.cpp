#include <cmath>

#include "tests/reports/samples/samples.hpp"

namespace tally::samples {
namespace {

struct Precision {
  const char* name;
  double unit_roundoff;
};
constexpr Precision precisions[] = {{"fp32", 0x1p-24}, {"fp16", 0x1p-11}, {"bf16", 0x1p-8}};

/// Spread over (0, 1), the same on every machine.
double spread(std::uint64_t i) { return static_cast<double>(i * 2654435761u % 1000003u) / 1000003.0; }

std::string id_of(std::uint64_t i) {
  std::string id = "000000000000";
  for (std::size_t at = id.size(); i > 0 && at > 0; i /= 16) id[--at] = "0123456789abcdef"[i % 16];
  return id;
}

CaseRecord case_of(std::uint64_t i, const std::string& law, const Precision& precision, int k) {
  CaseRecord c;
  c.id = id_of(i * 7919 + 1);
  c.law = law, c.precision = precision.name;
  c.title = "linear 8-16-4, K = " + std::to_string(k) + ", sgd";
  c.token = "tly1:" + id_of(i * 104729 + 3);
  c.seed = i, c.micro_batches = k;
  c.checks = 40, c.elements = 9000, c.vacuous_checks = i % 17 == 0, c.zero_signal_checks = i % 5 == 0;
  c.worst_local_ratio = std::pow(spread(i + 1), 2) * 0.9;
  c.worst_end_to_end_ratio = c.worst_local_ratio * 0.2;
  c.drift_bound = precision.unit_roundoff * (k + 9);
  c.rounding_drift = precision.unit_roundoff * std::sqrt(k) * (0.3 + spread(i + 5));
  c.formats = c.precision + (i % 19 == 0 ? ", buffer fp16" : "");
  c.worst_local_excess = c.worst_local_ratio * 0.8, c.worst_end_to_end_excess = c.worst_local_excess * 0.2;
  if (i % 23 == 0) c.worst_local_excess = c.worst_end_to_end_excess = 0;
  if (i % 23 == 0) c.worst_local_ratio = c.worst_end_to_end_ratio = c.rounding_drift = 0;
  TensorCheck worst;
  worst.lens = "local", worst.tap = "w0/m1/backward/d.fc1.weight", worst.stage = "backward";
  worst.elements = 128, worst.differing = 40, worst.worst_ratio = c.worst_local_ratio, worst.worst_index = {3, 17};
  worst.expected = -0.010421875, worst.got = -0.0104218765, worst.bound = 1e-8;
  worst.error = worst.bound * worst.worst_ratio;
  c.worst = {worst};
  c.operations = {{"accumulate", "grid_stride", "00000000000000aa", id_of(i) + "00aa", true, c.worst_local_ratio / 3},
                  {"schedule", "", "00000000000000bb", id_of(i) + "00bb", true, 0}};
  c.operations[0].standing = {"fp32", "4x3 7", 4, i % 17 == 0, c.worst_local_ratio, c.worst_local_excess, 5};
  c.operations[1].standing = {"fp32", "1", 2, 0, 0, 0, 0};
  return c;
}

void add_law(Results& results, const std::string& name, const std::string& family, const std::string& statement) {
  LawRecord law;
  law.name = name, law.family = family, law.statement = statement;
  law.faults = {"mean-of-means", "last-window-dropped"};
  law.control = "dropping one micro-batch changes the gradient", law.control_differs = true;
  law.status = Status::pass;
  for (const Precision& precision : precisions) {
    for (const int k : {1, 2, 3, 4, 8, 16, 64}) {
      for (int repeat = 0; repeat < 4; ++repeat) {
        results.cases.push_back(case_of(results.cases.size(), name, precision, k));
        law.checks += results.cases.back().checks;
        law.worst_ratio = std::max(law.worst_ratio, results.cases.back().worst_local_ratio);
        ++law.cases;
      }
    }
  }
  results.laws.push_back(law);
}

TrainingRecord training_of(const std::string& model, const Precision& precision, const std::string& cut) {
  TrainingRecord t;
  t.dataset = "digits", t.model = model, t.precision = precision.name, t.cut = cut;
  t.windows = 60, t.checks = 2400, t.worst_local_ratio = 0.71, t.skipped = 0;
  t.accuracy_accumulated = 0.9638, t.accuracy_full = 0.9638;
  for (int w = 1; w <= t.windows; ++w) {
    t.semantic_gap.push_back(model == "mlp with batch norm" ? 0.02 * std::sqrt(w) : 0);
    t.rounding_drift.push_back(precision.unit_roundoff * std::sqrt(w) * (cut == "K=4" ? 1 : 1.6));
    t.bound.push_back(precision.unit_roundoff * (12 + 3 * w));
    t.accumulated_minus_full.push_back(t.semantic_gap.back() + t.rounding_drift.back());
  }
  return t;
}

void add_faults(Results& results) {
  FaultRecord fault;
  fault.name = "mean-of-means", fault.stage = "accumulate";
  fault.right = "g = \u03A3 n_k g_k / \u03A3 n_k", fault.wrong = "g = \u03A3 g_k / K";
  fault.source = "a public report of unequal micro-batches";
  fault.caught = fault.right_stage = true;
  fault.law = "partition", fault.found_stage = "accumulate", fault.token = "tly1:8c1f0e2ab4d7";
  fault.knob = "value", fault.smallest_caught = 0x1p-20;
  results.faults.push_back(fault);
  fault.name = "unscale-twice", fault.stage = "unscale", fault.right = "g / s", fault.wrong = "g / s\u00B2";
  fault.law = "loss-scale", fault.found_stage = "optimizer", fault.right_stage = false;
  results.faults.push_back(fault);
}

}  // namespace

Results passing() {
  Results results;
  results.seed = 1, results.ran_on_host = 10080 + 14400, results.device_message = "no GPU here";
  add_law(results, "loss-scale", "loss scaling",
          "A power-of-two loss scale leaves the unscaled gradient's bits alone.");
  add_law(results, "order", "equivalence", "The order of micro-batches inside a window does not matter.");
  add_law(results, "partition", "equivalence", "Accumulated gradients equal the full batch for every partition.");
  add_faults(results);
  for (const char* model : {"mlp", "mlp with batch norm"})
    for (const Precision& precision : precisions)
      for (const char* cut : {"K=4", "uneven"}) results.training.push_back(training_of(model, precision, cut));
  results.triggers = {{"unequal n_k", "items", "case", "two micro-batches of a window differ in items", 41, "2"},
                      {"K = 1", "items", "case", "", 1234, "1"},
                      {"resumed", "windows", "run", "started from the state that a window left", 3, "0"},
                      {"two ranks", "ranks", "later", "one process trains here", 0, "0"}};
  results.certified = {3, 12, 450, 1, {}};
  results.environment = {"0.1.0", "host", "", "g++ 12.2", "-O3 -ffp-contract=off", "", "", {}};
  results.environment.ledger = {{"binary32 arithmetic rounds to nearest even", "holds: probed"},
                                {"subnormal numbers are kept", "holds: probed"}};
  return results;
}

Results large(int cases) {
  Results results = passing();
  const std::vector<CaseRecord> some = results.cases;
  for (int i = static_cast<int>(some.size()); i < cases; ++i) {
    results.cases.push_back(some[static_cast<std::size_t>(i) % some.size()]);
    results.cases.back().id = id_of(static_cast<std::uint64_t>(i) * 7919 + 1);
  }
  return results;
}

}  // namespace tally::samples
