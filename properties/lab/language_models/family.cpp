// A kind of layers of language models as the study runs it: drawn cases, the kernels that compute them, elements
// counted one by one.
#include "properties/lab/language_models/family.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/training_step/stages.hpp"
#include "properties/faults/fault.hpp"
#include "properties/generators/choices.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/verdict.hpp"
#include "properties/lab/evidence/cases.hpp"

namespace tally {
namespace {

void count(const HeldElement& x, double last_rounding, const CountedTensor& from, Stratum& stratum, Stratum& excess) {
  ++stratum.checks;
  stratum.vacuous += x.e > 0 && x.v != 0 && !(x.e < std::fabs(x.v));
  if (!std::isfinite(x.e)) return;
  const double r = x.error == 0 ? 0 : x.error / x.e;
  ++stratum.judged;
  stratum.alarms += x.error > x.e;
  r > 0 ? stratum.ratios.add(r) : stratum.ratios.add_to(0, 1);
  stratum.see_worst(r, from.number, from.tap);
  excess.see_worst(excess_of(x, last_rounding, r), from.number, from.tap);
}

}  // namespace

Labels excess_labels(Labels labels) {
  labels.front() = "excess of " + labels.front();
  return labels;
}

void count_elements(Strata& strata, const Labels& labels, const CountedTensor& tensor) {
  const LastRounding last(tensor.got.dtype);
  const std::size_t rows = tensor.parts.empty() ? 1 : tensor.parts.size(), columns = tensor.got.elements() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    Labels own = labels;
    own.push_back(tensor.parts.empty() ? "all" : tensor.parts[row]);
    Stratum &stratum = strata.at(own), &excess = strata.at(excess_labels(own));
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) {
      const long double v = tensor.expected.v.data()[i], got = tensor.got.value(i);
      const HeldElement x{static_cast<double>(v), tensor.expected.e.data()[i], static_cast<double>(got),
                          static_cast<double>(std::fabs(got - v)), 0};
      if (!std::isfinite(x.error) || std::isnan(x.e) || (x.e == 0 && x.error == 0)) continue;
      count(x, last.at(x.v, x.got), tensor, stratum, excess);
    }
  }
}

const std::vector<LayerFamily>& layer_families() {
  static const std::vector<LayerFamily> all = [] {
    std::vector<LayerFamily> families;
    for (const LayerFamily* family : all_records<LayerFamily>()) families.push_back(*family);
    return families;
  }();
  return all;
}

executor::Schedule numbers_for(std::uint64_t seed, std::uint64_t number, const std::string& family) {
  std::uint64_t mixed = executor::Schedule(seed).next();
  for (const char letter : family) mixed = executor::Schedule(mixed ^ static_cast<unsigned char>(letter)).next();
  return executor::Schedule(executor::Schedule(mixed ^ (number + 1)).next());
}

Plan plain_plan(Dtype storage, executor::Schedule& random, std::int64_t rows, std::int64_t longest) {
  Plan plan;
  plan.input = 11;
  plan.tokens = {.width = 8, .longest = longest};
  plan.outputs = 5;
  plan.windows = {{rows}};
  plan.loss = choice("loss", "cross_entropy");
  plan.precision.storage = storage;
  plan.recipe = {choice("optimizer", "sgd"), choice("learning_rate", "constant", {{"base", Decimal{"0.05"}}}),
                 choice("weight_decay", "none"), choice("clip", "none"),
                 choice("loss_scale", "static", {{"scale", Decimal{"64"}}})};
  plan.seed = random.next() >> 12;  // tokens hold integers below 2^53
  return plan;
}

Layer reading(Layer layer, std::vector<std::string> inputs) {
  layer.inputs = std::move(inputs);
  return layer;
}

void move_table(Case& c, double factor, double shift) {
  if (factor == 1 && shift == 0) return;
  Tensor& table = c.tensors.at("wte.weight");
  for (std::size_t i = 0; i < table.elements(); ++i) table.set(i, factor * table.value(i) + shift);
  table.drawing.reset();
}

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
      if (shown.stage != stage_of(fault)) return {};
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
