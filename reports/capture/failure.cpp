// What failed in a capture, and the words of its page.
#include <algorithm>
#include <set>

#include "reports/capture/page.hpp"
#include "reports/html/document.hpp"
#include "reports/html/table.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

constexpr std::size_t most_tensors = 24;  // more would say the same again; check.json has all

/// The failing checks in the order of their taps, but the first failure first.
std::vector<TensorCheck> failing(const CaptureRecord& capture) {
  std::vector<TensorCheck> found;
  for (const TensorCheck& check : capture.checks)
    if (check.status == Status::fail || check.status == Status::error) found.push_back(check);
  std::stable_partition(found.begin(), found.end(),
                        [&](const TensorCheck& check) { return check.tap == capture.first_tap; });
  return found;
}

/// A row a tensor, however often it was judged.
void in_short(Markup& page, const std::vector<TensorCheck>& tensors) {
  Table table(page, "Failing tensors, the first failure first, each with its worst element",
              {"Tensor", "Element", ">Expected", ">Got", ">Got / expected", ">Error", ">Bound"});
  std::set<std::string> told;
  for (const TensorCheck& check : tensors) {
    if (!told.insert(check.tap).second) continue;
    auto row = table.row(class_of(check.status));
    {
      const auto cell = row.open();
      page.element("code", {}, check.tap);
      if (!check.message.empty()) page.element("small", {}, check.message);
    }
    row.cell(index_text(check.worst_index));
    row.cell(shortest(check.expected));
    row.cell(shortest(check.got));
    row.cell(check.expected == 0 ? "" : significant(check.got / check.expected));
    row.cell(significant(check.error));
    row.cell(significant(check.bound));
  }
}

}  // namespace

void capture_failure_section(Markup& page, const CaptureRecord& capture) {
  std::vector<TensorCheck> tensors = failing(capture);
  if (tensors.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "failing"}});
  page.element("h2", {{"id", "failing"}}, "Outside their bounds");
  const std::size_t all = tensors.size();
  tensors.resize(std::min(all, most_tensors));
  in_short(page, tensors);
  if (all > tensors.size())
    page.element("p", {}, "And " + counted(all - tensors.size(), "failing check") + " more: see check.json.");
  {
    const auto details = page.open("details");
    page.element("summary", {}, "All figures: hexadecimal, what bounds are made of, every way of judging");
    tensor_table(page,
                 "Failing tensors in the order of the stages, the first failure first, with the worst element of each",
                 tensors);
  }
  tensor_elements(page, "element", tensors);
}

void capture_suspects_section(Markup& page, const CaptureRecord& capture) {
  if (capture.suspects.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "suspects"}});
  page.element("h2", {{"id", "suspects"}}, "What it looks like");
  page.element("p", {},
               "Formulas of known bugs, held against the tensors of the first stage that fails; the likeliest first.");
  Table table(page, "Known bugs that explain the error",
              {"Bug", ">Share of the squared error", "What it does", "What to change", "Formula"});
  for (std::size_t i = 0; i < capture.suspects.size(); ++i) {
    const Suspicion& suspect = capture.suspects[i];
    auto row = table.row();
    row.head(suspect.name);
    row.cell(percent(suspect.share));
    row.cell(suspect.sentence + (suspect.factor_word.empty() ? "" : "; the factor is " + suspect.factor_word));
    {
      const auto cell = row.open();
      with_code(page, i < capture.remedies.size() ? capture.remedies[i] : "");
    }
    const auto cell = row.open();
    page.element("code", {{"class", "long"}}, suspect.formula);
  }
}

namespace {

constexpr std::size_t shown_at_once = 8;

void items(Markup& page, const std::vector<std::string>& lines, std::size_t from, std::size_t to) {
  const auto list = page.open("ul");
  for (std::size_t i = from; i < to; ++i) page.element("li", {}, lines[i]);
}

void list(Markup& page, const char* id, const char* title, const char* what, const std::vector<std::string>& lines) {
  const auto section = page.open("section", {{"aria-labelledby", id}});
  page.element("h2", {{"id", id}}, title);
  page.element("p", {}, what);
  if (lines.empty()) return;
  const std::size_t first = std::min(lines.size(), shown_at_once);
  items(page, lines, 0, first);
  if (first == lines.size()) return;
  const auto details = page.open("details");
  page.element("summary", {}, "and " + std::to_string(lines.size() - first) + " more");
  items(page, lines, first, lines.size());
}

std::string joined(const std::vector<std::string>& groups) {
  std::string text;
  for (const std::string& group : groups)
    text += (text.empty() ? "judged as one group, as nothing between was recorded: " : ", ") + group;
  return text;
}

}  // namespace

void capture_words_sections(Markup& page, const CaptureRecord& capture) {
  std::vector<std::string> open = capture.not_judged;
  if (!capture.groups.empty()) open.insert(open.begin(), joined(capture.groups));
  list(page, "open", "Not judged",
       open.empty() ? "All stages of the recipe were judged, each by itself and end to end."
                    : "What the verdict does not say, and why.",
       open);
  if (!capture.assumptions.empty())
    list(page, "assumed", "Assumed", "What the recorder assumed, as the run did not say it.", capture.assumptions);
  list(page, "claims", "Claims",
       "How the subject says that it computes. Every bound follows from this: a claim that promises too much makes "
       "right "
       "numbers fail, one that promises little lets more pass.",
       capture.claims);
}

}  // namespace tally
