// Whether a partition differs from the whole batch in meaning or by rounding, without a tolerance.
#include "properties/diagnosis/vary/gap.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "oracle/tolerance/format.hpp"
#include "reports/record/record_kinds.hpp"

namespace tally {
namespace {

using Frozen = std::vector<std::string>;

double unit_of(const std::string& precision) {
  if (precision == "float64") return 0x1p-53;
  const Dtype dtype = precision == "float32" ? Dtype::fp32 : precision == "float16" ? Dtype::fp16 : Dtype::bf16;
  return oracle::format_of(dtype).unit_roundoff();
}

bool has_two(const VaryRuns& runs) { return runs.precisions.size() == 2; }

/// By name; NaN of a tensor that the run did not leave.
class Distances {
 public:
  explicit Distances(const VaryRun& run) {
    for (const VaryTensor& tensor : run.tensors) all_[tensor.name] = tensor.distance();
  }
  double operator()(const std::string& name) const {
    const auto found = all_.find(name);
    return found == all_.end() ? std::nan("") : found->second;
  }

 private:
  std::map<std::string, double> all_;
};

std::string other_tensor(const VaryRun& one, const VaryRun& two) {
  for (const auto& [a, b] : {std::pair{&one, &two}, std::pair{&two, &one}}) {
    for (const VaryTensor& tensor : a->tensors)
      if (std::ranges::find(b->tensors, tensor.name, &VaryTensor::name) == b->tensors.end()) return tensor.name;
  }
  return "";
}

double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

bool passes(const VaryGap& gap) { return gap.kind == gap_kind::rounding || gap.kind == gap_kind::decision; }

/// How far partitions that passed drifted in the low precision, by the tensor's name.
std::map<std::string, double> drifts_of(const std::vector<VaryGap>& before) {
  std::map<std::string, double> most;
  for (const VaryGap& gap : before) {
    for (const VaryTensorGap& tensor : gap.tensors)
      if (passes(gap) && tensor.kind == gap_kind::rounding && tensor.in_low)
        most[tensor.name] = std::max(most[tensor.name], *tensor.in_low);
  }
  return most;
}

/// The trouble of a run that did not come to its end, left other tensors, or is no reference; else empty.
std::string trouble_of(const VaryRun& run, const VaryRun& whole) {
  if (run.error) return error_text(*run.error);
  if (const std::string tensor = not_finite_in(run); run.how.sizes.empty() && !tensor.empty())
    return "the whole batch is not finite (" + tensor + ")";
  const std::string other = other_tensor(run, whole);
  return other.empty() ? "" : "other tensors than those of the whole batch (" + other + ")";
}

VaryGap failed_gap(VaryGap gap, const std::string& kind, const std::string& error) {
  gap.kind = kind, gap.error = error;
  return gap;
}

/// What a run in the low precision adds to the noise. Rounding does not exceed what half ulps do by more than the precisions
/// are apart: where it seems to, the two precisions train different loops, and the low one says nothing of the high one.
double drift_by_rounding(const VaryRuns& runs, double low, double noise) {
  return std::isnan(low) || low * boundary_of(runs) <= noise ? low : noise;
}

void take_tensors(VaryGap& gap, const VaryRuns& runs, const VaryRun& high, const VaryRun& moved,
                  const std::vector<VaryGap>& before) {
  const Distances of_moved(moved);
  const std::map<std::string, double> drifts = drifts_of(before);
  const double unit = unit_of(runs.precisions.back());
  for (const VaryTensor& tensor : high.tensors) {
    const auto drift = drifts.find(tensor.name);
    const double noise = larger(of_moved(tensor.name), unit);
    const double seen = drift == drifts.end() ? 0 : drift_by_rounding(runs, drift->second, noise);
    gap.tensors.push_back(
        {tensor.name, tensor.distance(), std::nullopt, larger(noise, seen), "rounding", tensor.stepped});
  }
}

void take_low(VaryGap& gap, const VaryRun& low) {
  const Distances in_low(low);
  for (VaryTensorGap& tensor : gap.tensors) tensor.in_low = in_low(tensor.name);
}

/// Up to which distance in the high precision a tensor differs by rounding.
double allowed(const VaryRuns& runs, const VaryTensorGap& tensor) {
  const bool low = has_two(runs) && tensor.in_low;
  if (!low) return boundary_of(runs) * tensor.noise;
  return boundary_of(runs) * larger(drift_by_rounding(runs, *tensor.in_low, tensor.noise), tensor.noise);
}

std::vector<VaryTensorGap*> beyond_in(const VaryRuns& runs, VaryGap& gap) {
  std::vector<VaryTensorGap*> beyond;
  for (VaryTensorGap& tensor : gap.tensors)
    if (!(tensor.in_high <= allowed(runs, tensor))) beyond.push_back(&tensor);
  return beyond;
}

/// What the row of a partition says: of one tensor, or the largest of any.
void take_figures(VaryGap& gap, const std::vector<VaryTensorGap*>& of) {
  const bool by_drift = gap.kind == gap_kind::rounding && of.front()->in_low;
  const VaryTensorGap* shown = nullptr;
  const auto size = [&](const VaryTensorGap& tensor) { return by_drift ? *tensor.in_low : tensor.in_high; };
  for (const VaryTensorGap* tensor : of)
    if (shown == nullptr || size(*tensor) > size(*shown)) shown = tensor;
  gap.tensor = shown->name, gap.in_high = shown->in_high, gap.in_low = shown->in_low;
  if (!by_drift) return;
  for (const VaryTensorGap* tensor : of) gap.in_high = larger(tensor->in_high, gap.in_high);
}

std::vector<VaryTensorGap*> all_of(VaryGap& gap) {
  std::vector<VaryTensorGap*> all;
  for (VaryTensorGap& tensor : gap.tensors) all.push_back(&tensor);
  return all;
}

VaryGap small_gap(VaryGap gap) {
  gap.kind = "rounding";
  take_figures(gap, all_of(gap));
  return gap;
}

HowRun low_run(const VaryRuns& runs, const Partition& sizes, const Frozen& frozen) {
  return {.sizes = sizes, .precision = runs.precisions.back(), .frozen = frozen};
}

/// What the low precision alone cannot do with the whole batch, it is asked of every partition.
bool whole_is_not_finite_in_low(const RunBook& book, const Frozen& frozen) {
  const VaryRun* whole = book.found(low_run(book.runs(), {}, frozen));
  return whole != nullptr && (whole->error || !not_finite_in(*whole).empty());
}

/// In the low precision alone: of this partition, or of the whole batch as well, which says nothing of partitions.
std::optional<VaryGap> not_finite_in_low(RunBook& book, VaryGap gap, const Frozen& frozen, const std::string& tensor) {
  if (book.run(low_run(book.runs(), {}, frozen)) == nullptr) return std::nullopt;
  gap.tensor = tensor;
  if (whole_is_not_finite_in_low(book, frozen))
    return failed_gap(std::move(gap), "not judged",
                      "the whole batch is not finite in " + book.runs().precisions.back() + " either");
  return failed_gap(std::move(gap), "not finite", "");
}

/// The gap of a partition with tensors beyond the boundary: meaning, or a decision that rounding turned.
std::optional<VaryGap> meaning_or_decision(RunBook& book, VaryGap gap, const Frozen& frozen,
                                           std::vector<VaryTensorGap*> beyond) {
  const VaryRuns& runs = book.runs();
  const double boundary = boundary_of(runs);
  const VaryRun* moved = book.run(high_run(runs, gap.sizes, frozen, 1));
  HowRun by_last_bits = whole_run(runs, frozen, 1);
  by_last_bits.moved_by = runs.precisions.front();
  const VaryRun* nudged = has_two(runs) ? book.run(by_last_bits) : nullptr;
  if (moved == nullptr || (has_two(runs) && nudged == nullptr)) return std::nullopt;
  for (const VaryRun* run : {moved, nudged})
    if (run != nullptr && run->error) return failed_gap(std::move(gap), "error", error_text(*run->error));
  for (VaryTensorGap* tensor : beyond) tensor->kind = "decision";
  if (nudged != nullptr)
    std::erase_if(beyond, [&, last_bits = Distances(*nudged)](const VaryTensorGap* tensor) {
      return last_bits(tensor->name) > boundary * tensor->in_high;
    });
  const Distances parted(*moved);
  const bool gone = std::ranges::all_of(
      beyond, [&](const VaryTensorGap* tensor) { return parted(tensor->name) <= allowed(runs, *tensor); });
  gap.kind = gone ? "decision" : "meaning";
  for (VaryTensorGap* tensor : beyond) tensor->kind = gap.kind;
  take_figures(gap, gone ? all_of(gap) : beyond);
  return gap;
}

}  // namespace

double boundary_of(const VaryRuns& runs) {
  if (has_two(runs)) return std::sqrt(unit_of(runs.precisions.front()) / unit_of(runs.precisions.back()));
  return static_cast<double>(runs.rows) * runs.windows;
}

double sharpness_of(const VaryRuns& runs) { return std::sqrt(unit_of(runs.precisions.front())); }

HowRun whole_run(const VaryRuns& runs, const std::vector<std::string>& frozen, int moved) {
  return {.sizes = {}, .precision = runs.precisions.front(), .moved = moved, .frozen = frozen};
}

HowRun high_run(const VaryRuns& runs, const Partition& sizes, const std::vector<std::string>& frozen, int moved) {
  return {.sizes = sizes, .precision = runs.precisions.front(), .moved = moved, .frozen = frozen};
}

std::string error_text(const VaryError& error) {
  std::string text = error.type;
  if (!error.file.empty()) text += " at " + error.file + (error.line > 0 ? ":" + std::to_string(error.line) : "");
  return error.text.empty() ? text : text + " (" + error.text + ")";
}

std::string not_finite_in(const VaryRun& run) {
  for (const VaryTensor& tensor : run.tensors)
    if (!std::isfinite(tensor.distance())) return tensor.name;
  return "";
}

std::optional<VaryGap> gap_of(RunBook& book, const Partition& sizes, const std::vector<std::string>& frozen,
                              const std::vector<VaryGap>& before, bool in_low) {
  const VaryRuns& runs = book.runs();
  const VaryRun* whole = book.run(whole_run(runs, frozen));
  const VaryRun* moved = book.run(whole_run(runs, frozen, 1));
  const VaryRun* high = book.run(high_run(runs, sizes, frozen));
  if (whole == nullptr || moved == nullptr || high == nullptr) return std::nullopt;
  VaryGap gap;
  gap.sizes = sizes;
  for (const VaryRun* run : {whole, moved, high})
    if (const std::string trouble = trouble_of(*run, *whole); !trouble.empty())
      return failed_gap(std::move(gap), "error", trouble);
  take_tensors(gap, runs, *high, *moved, before);
  if (const std::string tensor = not_finite_in(*high); !tensor.empty()) {
    gap.tensor = tensor;
    return failed_gap(std::move(gap), "not finite", "");
  }
  if (!in_low && has_two(runs) && beyond_in(runs, gap).empty() && !whole_is_not_finite_in_low(book, frozen))
    return small_gap(std::move(gap));
  const VaryRun* low = book.run(low_run(runs, sizes, frozen));
  if (low == nullptr) return std::nullopt;
  if (const std::string trouble = trouble_of(*low, *whole); !trouble.empty())
    return failed_gap(std::move(gap), "error", trouble);
  take_low(gap, *low);
  if (const std::string tensor = not_finite_in(*low); !tensor.empty())
    return not_finite_in_low(book, std::move(gap), frozen, tensor);
  if (auto beyond = beyond_in(runs, gap); !beyond.empty())
    return meaning_or_decision(book, std::move(gap), frozen, std::move(beyond));
  return small_gap(std::move(gap));
}

}  // namespace tally
