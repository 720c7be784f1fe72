// A comparison for a terminal, and as Markdown.
#include <algorithm>

#include "reports/census/census.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/summary/summary.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

std::string cases_text(const Comparison& c) {
  std::string text = c.equal == c.cases ? "bits equal in all " + counted(c.cases, "case") + "\n" : "";
  if (c.gone + c.fresh > 0)
    text += grouped(c.gone) + " cases only before, " + grouped(c.fresh) + " only now: not compared\n";
  return text;
}

std::string broken_text(const Comparison& c) {
  std::string text;
  for (const LawChange& law : c.laws)
    if (law.broken > 0)
      text += "  " + law.law + ", " + law.precision + ": " + counted(law.broken, "case") + ", worst r " +
              significant(law.worst_before) + " before, " + significant(law.worst_now) + " now\n";
  return text.empty() ? "" : "Laws that break now and did not before\n" + text;
}

std::string laws_table(const Comparison& comparison) {
  std::vector<std::vector<std::string>> laws{
      {"  Law", "Precision", ">Changed", ">Broken", ">Mended", ">r before", ">r now", "Worst r of each case"}};
  for (const LawChange& law : comparison.laws)
    if (law.equal < law.cases)
      laws.push_back({"  " + law.law, law.precision, grouped(law.cases - law.equal) + "/" + grouped(law.cases),
                      grouped(law.broken), grouped(law.mended), significant(law.worst_before),
                      significant(law.worst_now), text_of(law.accuracy)});
  return laws.size() > 1 ? columns(laws) : "";
}

}  // namespace

std::string law_changes_text(const Comparison& comparison, bool all) {
  std::uint64_t changed = 0, laws = 0;
  double before = 0, now = 0;
  for (const LawChange& law : comparison.laws) {
    changed += law.cases - law.equal, laws += law.equal < law.cases;
    if (ratio_is_worse(law.worst_before, before)) before = law.worst_before;
    if (ratio_is_worse(law.worst_now, now)) now = law.worst_now;
  }
  if (changed == 0) return "";
  return "results changed in " + grouped(changed) + " of " + counted(comparison.cases, "case") + ", of " +
         grouped(laws) + " of " + grouped(comparison.laws.size()) + " laws in a precision; worst r " +
         significant(before) + " before, " + significant(now) + " now\n" + (all ? laws_table(comparison) : "");
}

std::string comparison_text(const Comparison& comparison, const ChangesText& how) {
  return text_of(kernel_changes_of(comparison), how) + broken_text(comparison) + law_changes_text(comparison, how.all) +
         cases_text(comparison) + decision_text(comparison) + "\n";
}

namespace {

using Row = std::vector<std::string>;

/// Rows as long as the text stays within its limit, then how many were left out.
class Page {
 public:
  explicit Page(std::size_t limit) : limit_(limit) {}

  void text(const std::string& line) { out_ += line + "\n"; }
  void table(const std::string& title, const Row& head, const std::vector<Row>& rows) {
    if (rows.empty()) return;
    std::string start = "\n### " + title + "\n\n|", line = "\n|";
    for (const std::string& cell : head) start += " " + cell + " |", line += " --- |";
    if (out_.size() + start.size() + line.size() + reserve > limit_) return text(left_out(rows.size()));
    out_ += start + line + "\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::string row = "|";
      for (const std::string& cell : rows[i]) row += " " + markdown(cell) + " |";
      if (out_.size() + row.size() + reserve > limit_) return text("\n" + left_out(rows.size() - i));
      out_ += row + "\n";
    }
  }
  std::string take() { return std::move(out_); }

 private:
  static constexpr std::size_t reserve = 200;
  static std::string left_out(std::size_t rows) {
    return counted(rows, "row") + " left out: see `./tally compare --all`.";
  }
  std::size_t limit_;
  std::string out_;
};

std::string verdict_word(const Comparison& c) {
  const auto any = [&c](AccuracyVerdict verdict) {
    return std::any_of(c.operations.begin(), c.operations.end(),
                       [verdict](const OperationChange& o) { return o.accuracy.verdict == verdict; });
  };
  if (c.broken > 0) return "laws broken";
  if (any(AccuracyVerdict::worse)) return "accuracy worse";
  if (c.equal == c.cases) return "bits equal";
  if (any(AccuracyVerdict::undecided)) return "accuracy undecided";
  return any(AccuracyVerdict::better) ? "accuracy better" : "accuracy the same";
}

/// What changed by itself, the worst first.
std::vector<Row> operation_rows(const KernelChanges& changes, const FileOfKernel& file_of) {
  std::vector<Row> rows;
  for (const KernelChange& kernel : changes.own)
    for (const OperationChange* part : kernel.parts)
      rows.push_back(
          {kernel.before.empty() ? kernel.name() : kernel.before + " → " + kernel.name(),
           file_of ? file_of(kernel.operation, kernel.variant) : "",
           part->precision + (kernel.variant.empty() && !part->variant_now.empty() ? ", " + part->variant_now : ""),
           bits_text(*part), grouped(part->changed()) + " of " + grouped(part->cases), grouped(part->own),
           text_of(part->accuracy)});
  return rows;
}

std::vector<Row> law_rows(const Comparison& comparison) {
  std::vector<Row> rows;
  for (const LawChange& law : comparison.laws)
    if (is_touched(law))
      rows.push_back({law.law, law.precision, grouped(law.cases - law.equal) + " of " + grouped(law.cases),
                      grouped(law.broken), grouped(law.mended), significant(law.worst_before),
                      significant(law.worst_now), text_of(law.accuracy)});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return (a[3] != "0") > (b[3] != "0"); });
  return rows;
}

}  // namespace

std::string comparison_markdown(const Comparison& c, std::size_t limit, const FileOfKernel& file_of) {
  const KernelChanges changes = kernel_changes_of(c);
  Page page(limit);
  page.text("## " + verdict_word(c));
  page.text("");
  page.text(counted(c.cases, "case") + " of both runs, bits changed in " + grouped(c.cases - c.equal) + "; " +
            grouped(c.gone) + " only before, " + grouped(c.fresh) + " only now; " + grouped(c.broken) +
            " break their law now and did not before.");
  page.text("\n" + markdown(decision_text(c)) + ".");
  page.table("Kernels that changed",
             {"Kernel", "File", "Precision", "Bits", "Cases changed", "From equal inputs", "Error against its bound"},
             operation_rows(changes, file_of));
  if (!changes.followed.empty())
    page.text("\n" + counted(changes.followed.size(), "more kernel") + " computed on other inputs.");
  page.table("Laws",
             {"Law", "Precision", "Cases changed", "Broken", "Mended", "r before", "r now", "Worst r of each case"},
             law_rows(c));
  return page.take();
}

}  // namespace tally
