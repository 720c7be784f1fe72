// Every kernel of the run: what it was shown on, and how much of its bounds it uses.
#include "reports/census/kernels.hpp"

#include <algorithm>

#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

constexpr std::size_t open_kernels = 15;

void row_of(Markup& page, Table& table, const KernelResult& kernel, const Ranking& ranking) {
  auto row = table.row();
  row.head(kernel.name());
  row.cell(kernel.format);
  row.cell(grouped(kernel.cases));
  row.cell(grouped(kernel.shapes));
  row.cell(kernel.paths == 0 ? "\u2013" : grouped(kernel.paths_seen) + " of " + grouped(kernel.paths));
  row.cell(grouped(kernel.checks));
  row.cell(grouped(kernel.vacuous));
  row.cell(kernel.excess == 0 ? "0" : significant(kernel.excess));
  {
    const auto cell = row.open();
    const std::string words = ranking.usual().text(kernel.operation, kernel.format, kernel.excess);
    page.text(words.empty() ? "\u2013" : words);
    if (kernel.worst) {
      const std::string link = ranking.link_to(*kernel.worst);
      const auto small = page.open("small");
      link.empty() ? page.text("c-" + kernel.worst->id) : page.element("a", {{"href", link}}, "c-" + kernel.worst->id);
    }
  }
  row.cell(significant(kernel.ratio));
}

void table_of(Markup& page, const Ranking& ranking, const std::string& caption,
              const std::vector<KernelResult>& kernels) {
  Table table(page, caption,
              {"Kernel", "Format", ">Cases", ">Shapes", ">Paths", ">Tensors", ">Vacuous", ">Most used",
               "As many use it", ">Worst r"});
  for (const KernelResult& kernel : kernels) row_of(page, table, kernel, ranking);
}

void folded(Markup& page, const Ranking& ranking, const std::string& caption,
            const std::vector<KernelResult>& kernels) {
  if (kernels.empty()) return;
  const auto details = page.open("details");
  page.element("summary", {}, caption);
  table_of(page, ranking, caption, kernels);
}

}  // namespace

bool has_kernels(const Results& results) {
  return std::any_of(results.cases.begin(), results.cases.end(), [](const CaseRecord& c) {
    return std::any_of(c.operations.begin(), c.operations.end(), [](const auto& o) { return o.standing.checks > 0; });
  });
}

void kernels_section(Markup& page, const Results& results, const Ranking& ranking) {
  if (!has_kernels(results)) return;
  const Usual& usual = ranking.usual();
  std::vector<KernelResult> several, others, one;
  for (const KernelResult& kernel : kernel_results(results, usual))
    (kernel.one_rounding() ? one : several.size() < open_kernels ? several : others).push_back(kernel);
  const auto section = page.open("section", {{"aria-labelledby", "kernels"}});
  page.element("h2", {{"id", "kernels"}}, "Kernels");
  page.element("p", {},
               "Most used: the largest share of a bound that a tensor uses beyond its last rounding. Beside it, how "
               "many tensors of clean cases use as much" +
                   std::string(usual.known() ? ", from the evidence that is kept with the program"
                                             : ": not known, these results carry no evidence that counts them") +
                   ". Paths are the ways of a kernel's launches, in all formats together. Failing cases stand under "
                   "Failures, with their kernel and its file.");
  kernels_figure(page, results, usual);
  table_of(page, ranking, "Kernels whose bounds are of several roundings, the most unusual first", several);
  folded(page, ranking, "The other " + counted(others.size(), "kernel") + " of several roundings", others);
  folded(page, ranking, counted(one.size(), "kernel") + " whose bound is one rounding or none: r reaches 1 by design",
         one);
}

}  // namespace tally
