#include "properties/studies/language_models/held_run.hpp"

#include <algorithm>
#include <functional>

#include "kernels/training_step/stages.hpp"
#include "properties/compare/groups.hpp"
#include "properties/compare/judge.hpp"
#include "properties/compare/lens.hpp"
#include "properties/faults/fault.hpp"
#include "properties/studies/evidence/clean_case.hpp"
#include "properties/studies/language_models/element_counts.hpp"

namespace tally {
namespace {

/// A head and its loss, between which there are no taps.
const std::string as_one = "head_loss";

Trace trace_of(const Case& c, const Way& way, RunOptions subject) {
  if (!way.fault.empty()) subject.stages = &find_fault(way.fault)->stages();
  return run(c, subject);
}

/// What kernels leave no taps between is judged as a group.
std::vector<TensorCheck> checks_of(const Case& c, const Trace& trace) {
  if (trace.groups.empty()) return local_lens(c, trace);
  std::vector<TensorCheck> checks = hard_lenses(c, trace, Grouping::declared).checks;
  std::erase_if(checks, [](const TensorCheck& check) { return check.lens != "local" && check.lens != "group"; });
  return checks;
}

class HeldRun {
 public:
  HeldRun(const LayerFamily& family, const Case& c, Trace trace, std::uint64_t number)
      : family_(family), c_(c), trace_(std::move(trace)), number_(number) {
    if (family.parts != nullptr) parts_ = family.parts(c);
    for (const ShownTensor& shown : family.tensors)
      if (const auto claim = trace_.claims.kernels.find(shown.operation); claim != trace_.claims.kernels.end())
        variants_[shown.operation] = claim->second.variant;
  }

  void hold_clean() {
    const std::vector<TensorCheck> checks = hold([&](const ShownTensor& shown) -> Labels {
      return {"clean", shown.shown, variant(shown), precision()};
    });
    count_failing(checks);
    for (const std::string& broken : trace_.violations) ++strata_.at({"alarm", family_.name, broken, ""}).alarms;
  }

  /// A planted fault, in the tensors of its stage.
  void hold_faulty(const Fault& fault) {
    hold([&](const ShownTensor& shown) -> Labels {
      if (shown.stage != fault.stage) return {};
      return {"other", shown.shown, fault.name, variant(shown), precision()};
    });
  }

  void hold_under(const OtherClaim& other) {
    if (other.of_stores && c_.precision.storage == Dtype::fp32) return;
    const Claims own = trace_.claims;
    for (const auto& [operation, algorithm] : other.algorithms)
      trace_.claims.kernels.at(operation).algorithm = algorithm;
    hold([&](const ShownTensor& shown) -> Labels {
      if (!other.algorithms.contains(shown.operation)) return {};
      return {"other", shown.shown, variant(shown), other.claimed, precision()};
    });
    trace_.claims = own;
  }

  /// As what a library leaves, of whose kernels nothing is known.
  void hold_unclaimed() {
    const Claims own = trace_.claims;
    auto& kernels = trace_.claims.kernels;
    for (const auto& [operation, variant] : variants_)
      if (operation == as_one)
        kernels[operation] = {};  // that it is there says that nothing lies between
      else
        kernels.erase(operation);
    count_failing(hold([&](const ShownTensor& shown) -> Labels { return {"unclaimed", shown.shown, precision()}; }));
    trace_.claims = own;
  }

  Strata found() && {
    for (const auto& [labels, stratum] : strata_.all()) {
      strata_.at(labels).cases = 1;
      strata_.at(labels).alarmed = stratum.alarms > 0;
    }
    return std::move(strata_);
  }

 private:
  std::string precision() const { return std::string(name_of(c_.precision.storage)); }
  std::string variant(const ShownTensor& shown) const { return variants_.at(shown.operation); }

  void count_failing(const std::vector<TensorCheck>& checks) {
    for (const TensorCheck& check : checks) {
      if (check.status != Status::fail && check.status != Status::error) continue;
      Stratum& alarm = strata_.at({"alarm", family_.name, check.tap, replay_token(c_)});
      ++alarm.alarms;
      alarm.see_worst(check.worst_ratio, number_, check.tap);
    }
  }

  /// Judges the trace; each shown tensor is counted under labels_of(it), where there are any.
  std::vector<TensorCheck> hold(const std::function<Labels(const ShownTensor&)>& labels_of) {
    const JudgeObserver observer([&](const Place& place, const oracle::Expected& expected, const Tensor& got) {
      const TapName tap = tap_name_of(place.tap);
      for (const ShownTensor& shown : family_.tensors) {
        const bool meant = place.lens == (shown.operation == as_one ? "group" : "local") && tap.stage == shown.stage &&
                           tap.tensor == shown.tensor && variants_.contains(shown.operation);
        if (!meant) continue;
        if (const Labels labels = labels_of(shown); !labels.empty())
          count_elements(strata_, labels, {expected, got, parts_, number_, place.tap});
      }
    });
    return checks_of(c_, trace_);
  }

  const LayerFamily& family_;
  const Case& c_;
  Trace trace_;
  std::uint64_t number_;
  std::vector<std::string> parts_;
  std::map<std::string, std::string> variants_;  // of the shown operations that the run has
  Strata strata_;
};

}  // namespace

Strata held_run(const LayerFamily& family, const Way& way, Dtype storage, std::uint64_t number,
                const StudyOptions& options) {
  Case c = family.drawn(storage, options.seed, number);
  for (const auto& [operation, variant] : way.kernels) c.execution.kernels[operation] = variant;
  HeldRun held(family, c, trace_of(c, way, options.subject), number);
  if (way.fault.empty()) {
    held.hold_clean();
    held.hold_unclaimed();
  } else {
    held.hold_faulty(*find_fault(way.fault));
  }
  for (const OtherClaim& other : way.others) held.hold_under(other);
  return std::move(held).found();
}

}  // namespace tally
