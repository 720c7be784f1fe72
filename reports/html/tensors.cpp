#include "reports/html/tensors.hpp"

#include "reports/html/pieces.hpp"
#include "reports/html/table.hpp"
#include "reports/text/failure_text.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

void both_texts(Markup& page, Table::Row& row, double value) {
  const auto cell = row.open();
  page.text(shortest(value));
  page.element("small", {}, hexadecimal_text(value));
}

void check_row(Markup& page, Table& table, const TensorCheck& t) {
  auto row = table.row(class_of(t.status));
  {
    const auto cell = row.open();
    page.element("code", {}, t.tap);
    page.element("small", {}, t.lens + " lens, stage " + t.stage);
    if (!t.message.empty()) page.element("small", {}, t.message);
  }
  row.status(t.status);
  row.cell(significant(t.worst_ratio));
  row.cell(significant(t.error));
  {
    const auto cell = row.open();
    page.text(significant(t.bound));
    if (const std::string terms = text_of(t.terms); !terms.empty()) page.element("small", {}, terms);
  }
  both_texts(page, row, t.expected);
  both_texts(page, row, t.got);
  row.cell(t.expected == 0 ? "" : significant(t.got / t.expected));
  {
    const auto cell = row.open();
    page.text(index_text(t.worst_index));
    if (!t.place.empty()) page.element("small", {}, t.place);
  }
  row.cell(grouped(t.elements));
  row.cell(grouped(t.differing));
  row.cell(grouped(t.over_bound));
  row.cell(grouped(t.non_finite));
}

void worst_elements(Markup& page, const TensorCheck& t) {
  if (t.elements_worst.empty()) return;
  Table table(page, "Worst elements of " + t.tap,
              {"Index", ">Expected", ">Got", ">Error", ">Bound", ">r", ">Got / expected"});
  for (const ElementCheck& x : t.elements_worst) {
    auto row = table.row();
    row.head(index_text(x.index));
    both_texts(page, row, x.expected);
    both_texts(page, row, x.got);
    row.cell(significant(x.error));
    row.cell(significant(x.bound));
    row.cell(significant(x.error / x.bound));
    row.cell(x.expected == 0 ? "" : significant(x.got / x.expected));
  }
}

}  // namespace

void tensor_table(Markup& page, const std::string& caption, const std::vector<TensorCheck>& checks) {
  if (checks.empty()) return;
  Table table(page, caption,
              {"Tap", "Verdict", ">r", ">Error", ">Bound", ">Expected", ">Got", ">Got / expected", "Worst at",
               ">Elements", ">Differ", ">Over bound", ">Not finite"});
  for (const TensorCheck& t : checks) check_row(page, table, t);
}

void tensor_elements(Markup& page, const std::string& id, const std::vector<TensorCheck>& checks) {
  for (const TensorCheck& t : checks) {
    if (t.elements_worst.empty() && t.profile.stretch == 0) continue;
    const auto details = page.open("details");
    page.element("summary", {}, "Elements of " + t.tap);
    worst_elements(page, t);
    element_map(page, id + "-map", t);
    return element_figures(page, id, t);
  }
}

}  // namespace tally
