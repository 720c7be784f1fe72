// What a partition that fails tells.
#include <algorithm>
#include <cctype>
#include <optional>

#include "properties/diagnosis/vary/causes.hpp"
#include "properties/diagnosis/vary/gap.hpp"
#include "properties/diagnosis/vary/vary_verdict.hpp"
#include "reports/record/record_kinds.hpp"

namespace tally {
namespace {

using Frozen = std::vector<std::string>;

constexpr const char *dropout = "dropout", *batch_norm = "batch_norm";

/// What holds a layer still: dropout by itself, all others together.
const char* held_by(const std::string& layer) {
  return layer.find("Dropout") != std::string::npos ? dropout : batch_norm;
}

/// Names of the layers that a word holds still, as the runs list them.
std::string layers_of(const VaryRuns& runs, const char* word) {
  std::string text;
  for (const std::string& layer : runs.layers)
    if (held_by(layer) == word) text += (text.empty() ? "" : ", ") + layer;
  return text;
}

bool holds(const Frozen& frozen, const char* word) { return std::ranges::find(frozen, word) != frozen.end(); }

/// Names of all layers that are held still.
std::string layers_held(const VaryRuns& runs, const Frozen& frozen) {
  std::string text;
  for (const std::string& layer : runs.layers)
    if (holds(frozen, held_by(layer))) text += (text.empty() ? "" : ", ") + layer;
  return text;
}

/// What may be held still besides what is: dropout, BatchNorm, both.
std::vector<Frozen> further_frozen(const VaryRuns& runs, const Frozen& frozen) {
  Frozen all = frozen;
  std::vector<Frozen> found;
  for (const char* word : {dropout, batch_norm}) {
    if (layers_of(runs, word).empty() || holds(frozen, word)) continue;
    found.push_back(frozen);
    found.back().emplace_back(word);
    all.emplace_back(word);
  }
  if (found.size() > 1) found.push_back(all);
  return found;
}

bool is_gone(const VaryGap& gap) { return gap.kind == gap_kind::rounding || gap.kind == gap_kind::decision; }

/// Nothing: runs are asked for. Else what has to be held still for the gap to be gone; empty: it never is.
std::optional<Frozen> gone_without(RunBook& book, const VaryGap& gap, const Frozen& frozen) {
  for (const Frozen& further : further_frozen(book.runs(), frozen)) {
    const auto still = gap_of(book, gap.sizes, further);
    if (!still) return std::nullopt;
    if (is_gone(*still)) return further;
  }
  return Frozen{};
}

/// The coarsest partition that fails as this one does. Nothing where runs are asked for.
std::optional<VaryGap> shrunk(VaryReport& report, RunBook& book, VaryGap gap, const Frozen& frozen) {
  for (bool smaller = !book.runs().equal_only; smaller;) {
    smaller = false;
    for (const Partition& sizes : coarser(gap.sizes)) {
      if (is_cut(book.runs(), sizes) && is_equal(gap.sizes)) continue;  // what the cut makes would stand beside it
      const auto less = gap_of(book, sizes, frozen, {}, gap.kind == gap_kind::not_finite);
      if (!less) return std::nullopt;
      if (std::ranges::find(report.gaps, sizes, &VaryGap::sizes) == report.gaps.end()) report.gaps.push_back(*less);
      if (less->kind != gap.kind) continue;
      gap = *less, smaller = true;
      break;
    }
  }
  return gap;
}

std::string list_text(const std::vector<double>& values) {
  constexpr std::size_t shown = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, values.size()); ++i)
    text += (text.empty() ? "" : ", ") + figure_text(values[i]);
  return text + (values.size() > shown ? ", …" : "");
}

/// "fc1.weight; 3 of 4 tensors", "ema alone".
std::string differing(const VaryGap& gap) {
  const auto count = static_cast<std::size_t>(std::ranges::count(gap.tensors, gap_kind::meaning, &VaryTensorGap::kind));
  if (count == gap.tensors.size()) return gap.tensor;
  return gap.tensor + (count == 1
                           ? " alone"
                           : "; " + std::to_string(count) + " of " + std::to_string(gap.tensors.size()) + " tensors");
}

std::string gap_numbers(const VaryRuns& runs, const VaryGap& gap) {
  std::string size = partition_text(gap.sizes);
  size.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(size.front())));
  if (gap.kind == gap_kind::not_finite) return size + ", " + gap.tensor;
  std::string text = size + " end " + figure_text(gap.in_high) + " from the whole batch in " + runs.precisions.front();
  if (runs.precisions.size() == 2) text += " and " + figure_text(*gap.in_low) + " in " + runs.precisions.back();
  return text + " (" + differing(gap) + "): rounding " +
         (runs.precisions.size() == 2 ? "would shrink with the precision" : "alone cannot explain that");
}

void take_numbers(VaryReport& report, const VaryRuns& runs, const VaryGap& gap) {
  report.numbers = gap_numbers(runs, gap);
  if (report.weights.found.empty()) return;
  report.numbers += "; a row weighs " + list_text(report.weights.found) + " in the gradient of the step of window " +
                    std::to_string(report.weights.how.window) + ", and should weigh " + list_text(report.weights.meant);
}

/// Whether some do, of one rank, and none does not.
bool equal_ones_pass(const std::vector<VaryGap>& gaps) {
  bool any = false;
  for (const VaryGap& gap : gaps) {
    if (!is_equal(gap.sizes) || gap.sizes.ranks > 1) continue;
    if (!is_gone(gap)) return false;
    any = true;
  }
  return any;
}

/// A script's own line is no place.
VaryPlace place_of(const VaryRuns& runs) { return runs.kind == "script" ? VaryPlace{} : runs.loop; }

/// Whether no layer but spectral norms sees more than its rows: they see no rows at all.
bool spectral_alone(const VaryRuns& runs) {
  return std::ranges::all_of(runs.layers, [](const std::string& layer) {
    return held_by(layer) == dropout || layer.starts_with("SpectralNorm");
  });
}

/// Tells of layers that see the batch, without which the gap is gone.
void tell_layers(VaryReport& report, const VaryRuns& runs, const VaryGap& gap, const Frozen& without) {
  const std::string layers = layers_of(runs, batch_norm);
  const bool named = layers.find("BatchNorm") != std::string::npos;
  if (spectral_alone(runs))
    tell(report, {"spectral norm", {{"layers", layers}, {"K", std::to_string(gap.sizes.size())}}});
  else
    tell(report, {"batch_norm", {{"layers", layers}, {"frozen", named ? "BatchNorm" : "that"}}});
  if (holds(without, dropout)) report.notes.push_back("dropout was off too: it draws other masks");
  report.partition = gap.sizes, report.numbers = gap_numbers(runs, gap), report.place = place_of(runs);
}

/// With the layers that make the first gap held still: another one, and its cause, beside the first. False where runs are
/// asked for.
bool tell_another(VaryReport& report, RunBook& book, const Frozen& still) {
  for (const Partition& sizes : partitions_of(book.runs())) {
    const auto gap = gap_of(book, sizes, still);
    if (!gap) return false;
    if (gap->kind != gap_kind::meaning && gap->kind != gap_kind::not_finite) continue;
    VaryReport other = report;
    const auto least = shrunk(other, book, *gap, still);
    const auto told = least ? told_cause(other, book, *least, still) : std::nullopt;
    if (!told) return false;
    tell(other, *told);
    report.what += "; with that held still " + partition_text(least->sizes) + " differ as well: " + other.what;
    report.change += "; " + other.change;
    report.weights = other.weights, report.notes = other.notes;
    if (!other.weights.place.file.empty()) report.place = other.weights.place;
    return true;
  }
  return true;
}

}  // namespace

bool take_failure(VaryReport& report, RunBook& book, std::vector<std::string>& frozen) {
  const VaryRuns& runs = book.runs();
  const VaryGap failing = report.gaps.back();
  const auto without = gone_without(book, failing, frozen);
  if (!without) return true;
  if (holds(*without, batch_norm)) {
    tell_layers(report, runs, failing, *without);
    tell_another(report, book, *without);
    return true;
  }
  if (!without->empty()) {
    frozen = *without;
    report.notes.push_back("dropout was off: it draws other masks for other micro-batches (" +
                           layers_of(runs, dropout) + ")");
    return false;
  }
  Frozen still = frozen;
  if (const auto further = further_frozen(runs, frozen); !further.empty()) still = further.back();
  const auto same = still == frozen ? std::optional(failing) : gap_of(book, failing.sizes, still);
  if (!same) return true;
  if (same->kind == gap_kind::error)
    report.notes.push_back("with " + layers_held(runs, still) + " held still the loop ends with " + same->error),
        still = frozen;
  if (still != frozen)
    report.notes.push_back("the cause was looked for with " + layers_held(runs, still) + " held still");
  const auto least = shrunk(report, book, same->kind == gap_kind::error ? failing : *same, still);
  if (!least) return true;
  report.partition = least->sizes, report.place = place_of(runs);
  const auto told = told_cause(report, book, *least, still);
  if (!told) return true;
  tell(report, *told);
  if (told->name == "unknown") report.place = {};  // the loop's first line tells nobody where
  if (!report.weights.place.file.empty()) report.place = report.weights.place;
  take_numbers(report, runs, *least);
  if (runs.kind == "script" && equal_ones_pass(report.gaps) && !is_equal(least->sizes))
    report.numbers += ". Equal micro-batches match the whole batch: a short last one, as at an epoch's end, does not";
  return true;
}

}  // namespace tally
