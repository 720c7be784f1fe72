#include "reports/html/table.hpp"

#include "reports/html/view.hpp"
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

}  // namespace tally
