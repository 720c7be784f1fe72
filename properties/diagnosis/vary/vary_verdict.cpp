// The verdict on a loop that was run with other micro-batches, and uneven windows that it does not know of.
#include "properties/diagnosis/vary/vary_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "properties/diagnosis/vary/causes.hpp"
#include "properties/diagnosis/vary/gap.hpp"
#include "properties/diagnosis/vary/runs.hpp"
#include "reports/record/record_kinds.hpp"

namespace tally {
namespace {

std::int64_t largest(const Partition& sizes) { return *std::ranges::max_element(sizes); }

/// "6 * 2".
std::string told_window(const Partition& sizes) {
  return std::to_string(largest(sizes)) + " * " + std::to_string(sizes.size());
}

std::string of_so_many_rows(const Partition& sizes) {
  return std::to_string(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})) + " rows";
}

/// Whether every weight is that of a sum which is divided by the window that the loop was told of.
bool divides_by_the_told_window(const VaryWeights& weights, double sharpness) {
  const Partition& sizes = weights.how.sizes;
  const double told = static_cast<double>(largest(sizes)) * static_cast<double>(sizes.size());
  const double factor = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})) / told;
  for (std::size_t k = 0; k < weights.found.size(); ++k)
    if (!(std::fabs(weights.found[k] - factor * weights.meant[k]) <= sharpness * std::fabs(weights.meant[k])))
      return false;
  return true;
}

}  // namespace

bool is_cut(const VaryRuns& runs, const Partition& sizes) { return !runs.sizes_told && !is_equal(sizes); }

std::optional<VaryGap> cut_to_other_rows(const RunBook& book, const Partition& sizes) {
  const VaryRun* whole = book.found(whole_run(book.runs(), {}));
  const VaryRun* parted = book.found(high_run(book.runs(), sizes, {}));
  if (!is_cut(book.runs(), sizes) || whole == nullptr || parted == nullptr || parted->error) return std::nullopt;
  if (whole->rows_hash == parted->rows_hash || whole->rows_hash.empty() || parted->rows_hash.empty())
    return std::nullopt;
  if (told_by_left_over(*whole, *parted) || told_by_dealing(*parted)) return std::nullopt;
  VaryGap gap;
  gap.sizes = sizes, gap.kind = "not judged";
  gap.error = "the script takes other rows for a window of its batch size times K, " + told_window(sizes);
  return gap;
}

std::optional<std::string> excuse_of_the_cut(const VaryReport& report, RunBook& book, const VaryGap& gap,
                                             const std::vector<std::string>& frozen) {
  if (!is_cut(book.runs(), gap.sizes) || gap.kind != gap_kind::meaning) return "";
  const double sharpness = sharpness_of(book.runs());
  VaryReport of_gap = report;
  const auto told = told_cause(of_gap, book, gap, frozen);
  if (!told) return std::nullopt;
  const VaryWeights& weights = of_gap.weights;
  const bool explains = weights.rest <= sharpness && weights.meant_rest <= sharpness;
  if (weights.found.empty() || !explains || !weights.dealt.empty()) return "";
  const std::string the_window = "its batch size times K, " + told_window(gap.sizes);
  if (divides_by_the_told_window(weights, sharpness))
    return "the script divides by " + the_window + ", and this window has " + of_so_many_rows(gap.sizes);
  if (!are_as_meant(weights, sharpness)) return "";
  return filled_in(vary_cause(told->name).what, told->numbers) + ": the script is told of a window of " + the_window +
         ", and this one has " + of_so_many_rows(gap.sizes);
}

namespace {

constexpr const char* not_asked =
    "not tested: errors that are the same in every partition, such as gradients that leak in from another network";

bool fails(const VaryGap& gap) { return gap.kind == gap_kind::meaning || gap.kind == gap_kind::not_finite; }

std::size_t count_of(const std::vector<VaryGap>& gaps, const std::string& kind) {
  return static_cast<std::size_t>(std::ranges::count(gaps, kind, &VaryGap::kind));
}

void take_notes(VaryReport& report) {
  for (const VaryGap& gap : report.gaps)
    if (gap.kind == gap_kind::not_judged)
      report.notes.push_back("not judged: " + partition_text(gap.sizes) + ": " + gap.error);
  if (report.precisions.size() == 1)
    report.notes.push_back("in " + report.precisions.back() + " only: a gap smaller than its rounding cannot be seen");
  report.notes.push_back(not_asked);
}

/// "k.bias", "k.bias and 2 more".
std::string turned_tensors(const std::vector<VaryTensorGap>& tensors) {
  std::string first;
  std::size_t count = 0;
  for (const VaryTensorGap& tensor : tensors)
    if (tensor.kind == gap_kind::decision && count++ == 0) first = tensor.name;
  return count <= 1 ? first : first + " and " + std::to_string(count - 1) + " more";
}

/// Whether nothing is left that rounding did not turn: no partition has a tensor that was held against the whole batch's.
bool all_is_decision(const std::vector<VaryGap>& gaps) {
  return std::ranges::all_of(gaps, [](const VaryGap& gap) {
    return gap.kind == gap_kind::not_judged ||
           (gap.kind == gap_kind::decision && std::ranges::all_of(gap.tensors, [](const VaryTensorGap& tensor) {
              return tensor.kind == gap_kind::decision;
            }));
  });
}

std::string pass_text(const VaryReport& report) {
  const std::size_t open = count_of(report.gaps, "not judged"), turned = count_of(report.gaps, "decision");
  const std::size_t judged = report.gaps.size() - open;
  std::string text = std::to_string(judged) + (judged == 1 ? " partition" : " partitions") + " of " +
                     std::to_string(report.rows) + " rows give the whole batch's parameters; in " +
                     report.precisions.back() + " they end within " + figure_text(report.drift()) + " of them";
  const auto tensors = report.by_tensor();
  const auto most = std::ranges::find(tensors, gap_kind::rounding, &VaryTensorGap::kind);
  if (report.drift() > 0 && most != tensors.end()) text += " (" + most->name + ")";
  if (turned > 0)
    text += ", but for " + turned_tensors(tensors) + ", where rounding turns a decision in " + std::to_string(turned);
  return open == 0 ? text : text + "; " + std::to_string(open) + " could not be judged";
}

/// The verdict on partitions none of which has a gap.
void take_end(VaryReport& report, const RunBook& book) {
  const auto error = std::ranges::find(report.gaps, "error", &VaryGap::kind);
  if (error != report.gaps.end()) {
    report.partition = error->sizes;
    return tell(report, {error->sizes.ranks > 1 ? "error on ranks" : "error",
                         {{"sizes", partition_text(error->sizes)}, {"term", error->error}}});
  }
  if (count_of(report.gaps, "not judged") == report.gaps.size()) {
    report.verdict = "error", report.cause = "not finite in the whole batch";
    report.what = report.gaps.front().error, report.change = "use rows and a learning rate at which the loop trains";
    return;
  }
  if (all_is_decision(report.gaps)) {
    report.verdict = "error", report.cause = "decisions";
    report.what = "rounding changes decisions in every partition, so that no tensor matches the whole batch's";
    report.change =
        "use rows and a learning rate at which decisions do not depend on rounding: no ties, no `==` between "
        "floating-point numbers";
    return;
  }
  const VaryRun* whole = book.found(whole_run(book.runs(), {}));
  if (!whole->uncleared.empty())
    return tell(report, *told_by_uncleared(*whole, whole->uncleared.front())), take_notes(report);
  report.verdict = "pass";
  report.what = pass_text(report);
  take_notes(report);
}

const Partition& most_parts(const std::vector<Partition>& partitions) {
  return *std::ranges::max_element(partitions, {}, [](const Partition& sizes) { return sizes.size(); });
}

/// Judges all partitions with these layers held still; true where there is a verdict or something to ask.
bool judge_partitions(VaryReport& report, RunBook& book, std::vector<std::string>& frozen) {
  const std::vector<Partition> partitions = partitions_of(book.runs());
  for (const Partition& sizes : partitions) {
    if (auto other = cut_to_other_rows(book, sizes)) {
      if (!whole_batch_repeats(report, book)) return true;
      report.gaps.push_back(*other);
      continue;
    }
    if (hold_other_rows(report, book, sizes)) return true;
    const bool finest = sizes == most_parts(partitions);  // it adds up the most: its drift is shown
    const auto gap = gap_of(book, sizes, frozen, report.gaps, finest);
    if (!gap || (gap->kind != gap_kind::rounding && !whole_batch_repeats(report, book))) return true;
    report.gaps.push_back(*gap);
    if (!fails(*gap)) continue;
    const auto excuse = excuse_of_the_cut(report, book, *gap, frozen);
    if (!excuse) return true;
    if (!excuse->empty()) {
      report.gaps.back().kind = "not judged", report.gaps.back().error = *excuse;
      report.gaps.back().tensors.clear();
      continue;
    }
    return take_failure(report, book, frozen);
  }
  take_end(report, book);
  return true;
}

}  // namespace

VaryReport vary_verdict(const VaryRuns& runs) {
  VaryReport report;
  report.precisions = runs.precisions, report.loop = runs.loop, report.rows = runs.rows, report.windows = runs.windows;
  report.boundary = boundary_of(runs);
  report.notes = runs.notes;
  RunBook book(runs);
  std::vector<std::string> frozen;
  if (whole_batch_stands(report, book)) {
    // Where the gap was dropout's draws, all is judged once more without.
    while (!judge_partitions(report, book, frozen)) report.gaps.clear();
  }
  report.asks = book.asks();
  if (!report.asks.empty()) report.verdict = "asks";
  return report;
}

}  // namespace tally
