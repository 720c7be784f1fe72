#include "properties/studies/evidence/evidence_run.hpp"

#include <cmath>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/stages.hpp"
#include "properties/compare/judge.hpp"
#include "properties/compare/lens.hpp"
#include "properties/laws/outcome.hpp"
#include "properties/laws/refusal.hpp"
#include "properties/studies/evidence/part.hpp"

namespace tally {
namespace {

void add_ratios(RatioHistogram& ratios, const oracle::Expected& expected, const Tensor& got) {
  if (got.dtype == Dtype::i64 || got.dtype == Dtype::u8) return;
  for (std::size_t i = 0; i < got.elements(); ++i) {
    const double bound = expected.e.data()[i];
    const auto error = static_cast<double>(std::fabs(static_cast<long double>(got.value(i)) - expected.v.data()[i]));
    if (bound > 0 && std::isfinite(bound) && error > 0 && std::isfinite(error)) ratios.add(error / bound);
  }
}

/// The end-to-end lens may ask the local one about a decision: only its own tensors count.
template <class Lens>
void hold_against(Lens lens, const std::string& name, const Case& c, EvidenceRun& held) {
  const JudgeObserver observer([&](const Place& place, const oracle::Expected& expected, const Tensor& got) {
    if (place.lens != name) return;
    add_ratios(held.ratios[{name, part_of(c, tap_name_of(place.tap))}], expected, got);
  });
  for (TensorCheck& check : lens(c, held.trace)) held.checks.push_back(std::move(check));
}

TensorCheck broken_rule(const std::string& violation) {
  TensorCheck check;
  check.lens = "machine";
  check.tap = "memory";
  check.message = violation;
  check.stage = "kernel";
  check.status = Status::fail;
  check.failure = FailureClass::logic;
  check.worst_ratio = std::numeric_limits<double>::infinity();
  return check;
}

/// The figures are of stages by themselves: a head and its loss that run as one leave no taps between them.
Case in_stages(Case c) {
  c.execution.kernels.erase("head_loss");
  return c;
}

/// What the program would say of the case: that nothing was shown, where something could have been.
std::string refusal_among(const EvidenceRun& held) {
  Outcome outcome;
  outcome.checks = held.checks;
  return refusal_of(settled(std::move(outcome)), held.trace);
}

}  // namespace

const std::map<std::string, std::vector<std::string>>& shipped_variants(ExecutorKind executor) {
  static std::map<ExecutorKind, std::map<std::string, std::vector<std::string>>> known;
  const auto [place, fresh] = known.try_emplace(executor);
  if (!fresh) return place->second;
  for (const auto& [operation, standard] : standard_kernels(executor)) {
    for (const std::string& variant : tally::shipped_variants(operation, executor)) {
      const bool same = find_kernel(operation, executor, variant).arguments == standard->arguments;
      if (same) place->second[operation].push_back(variant);
    }
  }
  return place->second;
}

Trace trace_of(const Case& c, const DrawnRun& run) {
  Stages stages = run.subject.stages != nullptr ? *run.subject.stages : shipped_stages();
  for (const auto& [operation, variant] : run.variants) stages.variants.try_emplace(operation, variant);
  RunOptions subject = run.subject;
  subject.stages = &stages;
  return tally::run(c, subject);
}

EvidenceRun evidence_run(const Case& drawn, const DrawnRun& run) {
  const Case c = in_stages(drawn);
  EvidenceRun held;
  held.trace = trace_of(c, run);
  hold_against([](const Case& judged, const Trace& trace) { return local_lens(judged, trace); }, "local", c, held);
  hold_against(end_to_end_lens, "end_to_end", c, held);
  for (const std::string& violation : held.trace.violations) held.checks.push_back(broken_rule(violation));
  held.refusal = refusal_among(held);
  return held;
}

}  // namespace tally
