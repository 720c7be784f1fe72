#include <algorithm>

#include "reports/compare/comparison.hpp"
#include "reports/summary/markdown.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
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
  static std::string left_out(std::size_t rows) { return counted(rows, "row") + " left out: see `tally compare`."; }
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

/// What was touched itself first, then by how much.
std::vector<Row> operation_rows(const Comparison& comparison) {
  std::vector<const OperationChange*> changes;
  for (const OperationChange& change : comparison.operations)
    if (is_touched(change)) changes.push_back(&change);
  std::stable_sort(changes.begin(), changes.end(), [](const auto* a, const auto* b) {
    const bool first = a->own > 0, second = b->own > 0;
    return first != second ? first : a->accuracy.factor > b->accuracy.factor;
  });
  std::vector<Row> rows;
  for (const OperationChange* c : changes) {
    const bool other = c->variant_before != c->variant_now;
    rows.push_back({c->operation, c->precision, other ? c->variant_before + " → " + c->variant_now : c->variant_now,
                    bits_text(*c), grouped(c->changed()) + " of " + grouped(c->cases), grouped(c->own),
                    text_of(c->accuracy)});
  }
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

std::string comparison_markdown(const Comparison& c, std::size_t limit) {
  Page page(limit);
  page.text("## " + verdict_word(c));
  page.text("");
  page.text(counted(c.cases, "case") + " of both runs, bits changed in " + grouped(c.cases - c.equal) + "; " +
            grouped(c.gone) + " only before, " + grouped(c.fresh) + " only now; " + grouped(c.broken) +
            " break their law now and did not before.");
  page.text("\n" + markdown(decision_text(c)) + ".");
  page.table(
      "Kernel operations",
      {"Operation", "Precision", "Variant", "Bits", "Cases changed", "From equal inputs", "Error against its bound"},
      operation_rows(c));
  const auto followed = std::count_if(c.operations.begin(), c.operations.end(), [](const OperationChange& change) {
    return change.changed() > 0 && !is_touched(change);
  });
  if (followed > 0)
    page.text("\n" + grouped(std::uint64_t(followed)) + " more computed as accurately on other inputs.");
  page.table("Laws",
             {"Law", "Precision", "Cases changed", "Broken", "Mended", "r before", "r now", "Worst r of each case"},
             law_rows(c));
  return page.take();
}

}  // namespace tally
