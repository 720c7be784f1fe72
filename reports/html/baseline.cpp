// This run beside its baseline: what was blessed, what changed, and P4.
#include <algorithm>
#include <cmath>

#include "reports/census/census.hpp"
#include "reports/gate/gate.hpp"
#include "reports/html/sections.hpp"
#include "reports/html/table.hpp"
#include "reports/study/figure.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

struct Pair {
  const BlessedGroup* before;
  BlessedGroup now;
};

/// Groups of this machine that both have.
std::vector<Pair> pairs_of(const Results& results, const Baseline& baseline) {
  std::vector<Pair> pairs;
  for (const BlessedGroup& now : baseline_of(results).groups)
    for (const BlessedGroup& before : baseline.groups)
      if (before.same_place(now)) pairs.push_back({&before, now});
  return pairs;
}

void scatter(Markup& page, const std::vector<Pair>& pairs) {
  StudyPlot plot{"Worst r now against the baseline's", "r in the baseline", "r now", true, true, {}};
  StudySeries same{"as blessed", {}, {}, {}, {}}, changed{"changed", {}, {}, {}, {}};
  double low = 1;
  for (const Pair& pair : pairs) {
    const double before = pair.before->worst_ratio, now = pair.now.worst_ratio;
    StudySeries& series = before == now ? same : changed;
    series.x.push_back(before), series.y.push_back(now);
    for (const double r : {before, now})
      if (r > 0 && std::isfinite(r)) low = std::min(low, r);
  }
  plot.series = {same, changed, {"as blessed: r now = r before", {low, 1}, {low, 1}, {}, {}}};
  study_figure(page, "p4", plot,
               {{ink::axis, 0, false, "", true, false},
                {ink::series[1], 3, true, "", true, false},
                {ink::axis, 0, false, "4 4", false, true}},
               "One mark a law and precision. Over the line a group has become worse, under it better.");
}

const char* word_of(const Pair& pair) {
  const double before = pair.before->worst_ratio, now = pair.now.worst_ratio;
  if (pair.before->same_content(pair.now)) return "same";
  if (!(pair.before->drawn == pair.now.drawn)) return "other cases";
  return ratio_is_worse(now, before) ? "\u25B2 drift" : ratio_is_worse(before, now) ? "\u25BD better" : "other ratios";
}

void changes(Markup& page, const std::vector<Pair>& pairs) {
  Table table(page, "Groups that differ from the baseline",
              {"Law", "Precision", "Change", ">r in the baseline", ">r now", ">Factor", "Blessed because"});
  for (const Pair& pair : pairs) {
    if (pair.before->same_content(pair.now)) continue;
    auto row = table.row("other");
    row.head(pair.now.law);
    row.cell(pair.now.precision);
    row.cell(word_of(pair));
    row.cell(significant(pair.before->worst_ratio));
    row.cell(significant(pair.now.worst_ratio));
    row.cell(significant(pair.now.worst_ratio / pair.before->worst_ratio));
    row.cell(pair.before->reason);
  }
}

}  // namespace

void baseline_section(Markup& page, const Results& results, const ReportContext& context) {
  if (!context.baseline) return;
  const auto section = page.open("section", {{"aria-labelledby", "baseline"}});
  page.element("h2", {{"id", "baseline"}}, "Baseline");
  const Machine machine = machine_of(results);
  const auto pairs = pairs_of(results, *context.baseline);
  const auto same =
      std::count_if(pairs.begin(), pairs.end(), [](const Pair& p) { return p.before->same_content(p.now); });
  page.element("p", {},
               "Compared on " + machine.executor + (machine.device.empty() ? "" : ", " + machine.device) + "; " +
                   machine.toolchain + ": " + counted(pairs.size(), "group") + " of both, " + std::to_string(same) +
                   " the same.");
  page.element("pre", {{"tabindex", "0"}, {"role", "group"}, {"aria-label", "What the gate says"}},
               gate_text(gate(results, *context.baseline)));
  if (pairs.empty()) return;
  scatter(page, pairs);
  if (static_cast<std::size_t>(same) < pairs.size()) changes(page, pairs);
}

}  // namespace tally
