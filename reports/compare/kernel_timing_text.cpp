#include <algorithm>

#include "reports/compare/kernel_timing.hpp"
#include "reports/summary/markdown.hpp"
#include "reports/text/columns.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

using Row = std::vector<std::string>;

bool is_decided(const KernelTiming& t) { return t.verdict == "slower" || t.verdict == "faster"; }

/// Slower ones first, by how much.
std::vector<Row> rows_of(const std::vector<KernelTiming>& timings) {
  std::vector<const KernelTiming*> decided;
  for (const KernelTiming& t : timings)
    if (is_decided(t)) decided.push_back(&t);
  std::stable_sort(decided.begin(), decided.end(), [](const auto* a, const auto* b) { return a->factor > b->factor; });
  std::vector<Row> rows;
  for (const KernelTiming* t : decided)
    rows.push_back({t->operation, t->precision, t->verdict, significant(t->factor) + "x",
                    "[" + significant(t->low) + ", " + significant(t->high) + "]", grouped(t->cases),
                    grouped(t->pairs)});
  return rows;
}

/// "Time of 36 kernel operations: 30 the same, 6 undecided, medians 0.97x to 1.08x".
std::string others(const std::vector<KernelTiming>& timings) {
  std::size_t count = 0, same = 0;
  bool decides = true;
  double low = 0, high = 0;
  for (const KernelTiming& t : timings) {
    if (is_decided(t)) continue;
    low = count == 0 ? t.factor : std::min(low, t.factor), high = count == 0 ? t.factor : std::max(high, t.factor);
    ++count, same += t.verdict == "same", decides = decides && t.pairs >= deciding_pairs;
  }
  if (count == 0) return "";
  const bool all = count == timings.size();
  std::string text = std::string("time of ") + (all ? "" : "the other ") + counted(count, "kernel operation") + ": " +
                     grouped(same) + " the same, " + grouped(count - same) + " undecided; medians " + significant(low) +
                     "x to " + significant(high) + "x";
  if (!decides) text += "; --repeat " + std::to_string(deciding_pairs) + " can decide";
  return text + "\n";
}

}  // namespace

std::string kernel_timings_text(const std::vector<KernelTiming>& timings) {
  std::vector<Row> rows{{"  Operation", "Precision", "Time", ">Factor", "Limits", ">Cases", ">Pairs"}};
  for (Row& row : rows_of(timings)) row.front().insert(0, "  "), rows.push_back(std::move(row));
  return (rows.size() > 1 ? "Kernel operations whose time changed\n" + columns(rows) : "") + others(timings);
}

std::string kernel_timings_markdown(const std::vector<KernelTiming>& timings) {
  const std::vector<Row> rows = rows_of(timings);
  std::string out;
  if (!rows.empty()) {
    out = "\n### Kernel times\n\n| Operation | Precision | Time | now / before | Limits | Cases | Pairs of runs |\n";
    out += "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const Row& row : rows) {
      out += "|";
      for (const std::string& cell : row) out += " " + markdown(cell) + " |";
      out += "\n";
    }
  }
  const std::string rest = others(timings);
  return rest.empty() ? out : out + "\n" + rest;
}

}  // namespace tally
