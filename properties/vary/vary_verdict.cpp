#include "properties/vary/vary_verdict.hpp"

#include <algorithm>

#include "properties/vary/causes.hpp"
#include "properties/vary/failing_partition.hpp"
#include "properties/vary/gap.hpp"
#include "properties/vary/partitions.hpp"
#include "properties/vary/whole_batch.hpp"

namespace tally {
namespace {

constexpr const char* not_asked =
    "what is wrong for every partition alike, such as gradients of another network that leak in, is no question of "
    "accumulation, and was not asked";

bool fails(const VaryGap& gap) { return gap.kind == "meaning" || gap.kind == "not finite"; }

std::size_t count_of(const std::vector<VaryGap>& gaps, const std::string& kind) {
  return static_cast<std::size_t>(std::ranges::count(gaps, kind, &VaryGap::kind));
}

void take_errors(VaryReport& report) {
  for (const VaryGap& gap : report.gaps)
    if (gap.kind == "error")
      report.notes.push_back("not judged: micro-batches of " + sizes_text(gap.sizes) + " rows: " + gap.error);
}

/// Of partitions none of which fails.
void take_pass(VaryReport& report, const VaryRuns& runs) {
  const std::size_t errors = count_of(report.gaps, "error"), turned = count_of(report.gaps, "decision");
  const std::size_t judged = report.gaps.size() - errors;
  take_errors(report);
  if (judged == 0) {
    report.verdict = "error", report.cause = "error";
    report.what = "no partition of the " + std::to_string(report.rows) + " rows came to its end: micro-batches of " +
                  sizes_text(report.gaps.front().sizes) + " rows: " + report.gaps.front().error;
    report.change = "give a step that runs on micro-batches of any size";
    return;
  }
  report.verdict = "pass";
  report.what = std::to_string(judged) + (judged == 1 ? " partition" : " partitions") + " of " +
                std::to_string(report.rows) + " rows come to the whole batch's parameters; in " +
                report.precisions.back() + " they end within " + figure_text(report.drift()) + " of them";
  const auto tensors = report.by_tensor();
  if (report.drift() > 0 && !tensors.empty()) report.what += " (" + tensors.front().name + ")";
  if (turned > 0) report.what += ", but for " + std::to_string(turned) + " in which rounding turned a decision";
  if (errors > 0) report.what += "; " + std::to_string(errors) + " could not be judged";
  if (runs.precisions.size() == 1)
    report.notes.push_back("in " + report.precisions.back() +
                           " alone: a gap that is smaller than what this rounds cannot be seen");
  report.notes.push_back(not_asked);
}

/// Judges all partitions with these layers held still; true where there is a verdict or something to ask.
bool judge_partitions(VaryReport& report, RunBook& book, std::vector<std::string>& frozen) {
  for (const Partition& sizes : partitions_of(book.runs())) {
    if (hold_other_rows(report, book, sizes)) return true;
    const auto gap = gap_of(book, sizes, frozen);
    if (!gap) return true;
    report.gaps.push_back(*gap);
    if (!fails(*gap)) continue;
    return take_failure(report, book, frozen);
  }
  take_pass(report, book.runs());
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
