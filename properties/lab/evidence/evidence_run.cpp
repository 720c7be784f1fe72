// One run of a case, held against both lenses, and the parts of training that it is counted by.
#include "properties/lab/evidence/evidence_run.hpp"

#include <cmath>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/verdict.hpp"
#include "properties/laws/judge.hpp"
#include "properties/laws/law.hpp"

namespace tally {
namespace {

/// "fc1" of "in.d.fc1.weight".
std::string label_in(std::string tensor) {
  for (const char* prefix : {"in.", "d."}) {
    if (tensor.starts_with(prefix)) tensor.erase(0, std::string_view(prefix).size());
  }
  return tensor.substr(0, tensor.rfind('.'));
}

std::string layer_kind(const Case& c, const std::string& tensor) {
  const std::string label = label_in(tensor);
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    if (label_of(c.model, i) == label) return kernel_family_of(c.model.layers[i]);
  }
  return label;
}

}  // namespace

std::string part_of(const Case& c, const TapName& tap) {
  const Recipe& recipe = c.recipe;
  if (tap.stage == StageName::forward || tap.stage == StageName::backward)
    return tap.stage + " " + layer_kind(c, tap.tensor);
  if (tap.stage == StageName::loss) return "loss " + c.model.loss.kind;
  if (tap.stage == StageName::optimizer) return "optimizer " + recipe.optimizer.kind;
  if (tap.stage == StageName::clip) return "clip " + recipe.clip.kind;
  if (tap.stage == StageName::decay) return "decay " + recipe.weight_decay.kind;
  return tap.stage;
}

std::string part_of_operation(std::string_view operation) {
  const auto dot = operation.find('.');
  const std::string first(operation.substr(0, dot));
  const std::string rest(dot == std::string_view::npos ? "" : operation.substr(dot + 1));
  if (first == "decay") return "decay " + rest;
  if (operation == "gradient.add") return "fork";
  if (!rest.empty())
    return (rest.find("gradient") + 1 || rest.starts_with("backward") ? "backward " : "forward ") + first;
  if (find_contract("loss", first) != nullptr) return "loss " + first;
  if (find_contract("optimizer", first) != nullptr) return "optimizer " + first;
  if (first == "clip_by_value") return "clip value";
  return first.starts_with("clip") ? "clip global_norm" : first;
}

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
