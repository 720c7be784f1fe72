// Tables of a page: any, of judged tensors, of ranks.
#include "reports/html/table.hpp"

#include <algorithm>
#include <charconv>

#include "reports/html/document.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

std::vector<bool> right_columns(const std::vector<std::string>& titles) {
  std::vector<bool> right;
  for (const std::string& title : titles) right.push_back(title.starts_with('>'));
  return right;
}

/// The precision that is the title of each column; empty where it is another title.
std::vector<std::string> precisions_in(const std::vector<std::string>& titles) {
  std::vector<std::string> found;
  for (const std::string& title : titles) {
    const std::string word = title.substr(title.starts_with('>'));
    found.push_back(can_be_chosen(word) ? word : "");
  }
  return found;
}

bool write_head(Markup& page, const std::string& caption, const std::vector<std::string>& titles) {
  page.element("caption", {}, caption);
  const auto head = page.open("thead");
  const auto row = page.open("tr");
  for (const std::string& title : titles) {
    const bool right = title.starts_with('>');
    const std::string word = title.substr(right);
    page.element("th", {{"scope", "col"}, {"class", right ? "n" : ""}, {"data-p", can_be_chosen(word) ? word : ""}},
                 word);
  }
  return true;
}

}  // namespace

Table::Table(Markup& page, const std::string& caption, const std::vector<std::string>& titles)
    : page_(page),
      right_(right_columns(titles)),
      precisions_(precisions_in(titles)),
      region_(page.open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", caption}})),
      table_(page.open("table")),
      head_(write_head(page, caption, titles)),
      body_(page.open("tbody")) {}

Table::Row::Row(Markup& page, const Table& table, const std::string& status, const std::string& id,
                const std::string& precision)
    : page_(page),
      table_(table),
      row_(page.open("tr", {{"data-s", status}, {"id", id}, {"data-p", can_be_chosen(precision) ? precision : ""}})) {}

Attributes Table::Row::next(const std::string& extra) {
  const bool known = column_ < table_.right_.size(), right = known && table_.right_[column_];
  const std::string precision = known ? table_.precisions_[column_] : "";
  ++column_;
  const std::string aligned = right ? "" : "t";  // most cells hold numbers: those say nothing
  return {{"class", aligned.empty() || extra.empty() ? aligned + extra : aligned + " " + extra}, {"data-p", precision}};
}

void Table::Row::cell(std::string_view text) { page_.element("td", next(), text); }

void Table::Row::head(std::string_view text, const std::string& link) {
  const bool right = column_ < table_.right_.size() && table_.right_[column_];
  ++column_;
  const auto cell = page_.open("th", {{"scope", "row"}, {"class", right ? "n" : ""}});
  if (link.empty()) return page_.text(text);
  page_.element("a", {{"href", link}}, text);
}

void Table::Row::code(std::string_view text) {
  const auto cell = page_.open("td", next());
  constexpr std::size_t fits = 48;
  if (text.size() <= fits) {
    if (!text.empty()) page_.element("code", {}, text);
    return;
  }
  const auto details = page_.open("details");
  page_.element("summary", {}, "show");
  page_.element("code", {{"class", "wide"}}, text);
}

void Table::Row::status(Status status, const std::string& link) {
  const auto cell = page_.open("td", next("s " + class_of(status)));
  if (link.empty()) return page_.text(mark_and_word(status));
  page_.element("a", {{"href", link}}, mark_and_word(status));
}

Markup::Open Table::Row::open(const std::string& extra_class) { return page_.open("td", next(extra_class)); }

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

namespace {

/// The stages of all rows; of each the most complete row gives the order.
std::vector<std::string> stages_of(const std::vector<RankRow>& rows) {
  std::vector<std::string> stages;
  for (const RankRow& row : rows) {
    auto behind = stages.begin();
    for (const RankStage& stage : row.stages) {
      const auto known = std::ranges::find(stages, stage.stage);
      behind = known != stages.end() ? known + 1 : stages.insert(behind, stage.stage) + 1;
    }
  }
  return stages;
}

bool is_of_pipeline(const RankRow& row) { return row.pipe >= 0; }

std::string ranks_text(const RankRow& row) {
  const std::string first = std::to_string(row.first);
  return row.first == row.last ? first : first + " to " + std::to_string(row.last);
}

/// "1", of several ranks "1 of ranks 0 to 3".
std::string name_of(const RankRow& row, bool several) {
  if (!is_of_pipeline(row)) return ranks_text(row);
  if (!several) return std::to_string(row.pipe);
  return std::to_string(row.pipe) + (row.first == row.last ? " of rank " : " of ranks ") + ranks_text(row);
}

/// "w0/r2/m1/backward/d.fc1.weight": its rank, -1 where it names none.
std::int64_t rank_of(const std::string& tap) {
  const std::size_t at = tap.find("/r");
  std::int64_t rank = -1;
  if (at == std::string::npos) return rank;
  const auto [end, error] = std::from_chars(tap.data() + at + 2, tap.data() + tap.size(), rank);
  return error == std::errc() ? rank : -1;
}

bool names_stage(const std::string& tap, const std::string& stage) {
  return tap.find("/" + stage + "/") != std::string::npos;
}

void cell_of(Markup& page, Table::Row& line, const RankStage& stage, bool first) {
  const auto cell = line.open("t tint-" + class_of(stage.status));
  page.text(std::string(mark_of(stage.status)) + (stage.failed > 0 ? " " + grouped(stage.failed) : ""));
  if (first) page.element("small", {}, "fails first");
}

}  // namespace

void rank_grid(Markup& page, const std::vector<RankRow>& rows, const std::string& title, const std::string& first_tap) {
  if (rows.empty()) return;
  const std::vector<std::string> stages = stages_of(rows);
  const bool in_stages = is_of_pipeline(rows.front());
  const bool several = std::ranges::any_of(rows, [](const RankRow& row) { return row.last > 0; });
  std::vector<std::string> titles{in_stages ? "Stage of the pipeline" : "Rank"};
  titles.insert(titles.end(), stages.begin(), stages.end());
  Table table(
      page,
      (in_stages ? "Pipeline of " : "Ranks of ") + title + " by stage, over all windows, with how many tensors fail",
      titles);
  for (const RankRow& row : rows) {
    auto line = table.row();
    line.head(name_of(row, several));
    for (const std::string& stage : stages) {
      const auto found = std::ranges::find(row.stages, stage, &RankStage::stage);
      const bool of_rank = rank_of(first_tap) >= row.first && rank_of(first_tap) <= row.last;
      const bool first =
          in_stages ? found != row.stages.end() && found->first : of_rank && names_stage(first_tap, stage);
      if (found == row.stages.end())
        line.cell("\u2013");
      else
        cell_of(page, line, *found, first);
    }
  }
}

}  // namespace tally
