#include <algorithm>

#include "reports/capture/sections.hpp"

namespace tally {
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
    text += (text.empty() ? "judged as one, as nothing between was recorded: " : ", ") + group;
  return text;
}

}  // namespace

void capture_words_sections(Markup& page, const CaptureRecord& capture) {
  std::vector<std::string> open = capture.not_judged;
  if (!capture.groups.empty()) open.insert(open.begin(), joined(capture.groups));
  list(page, "open", "Not judged",
       open.empty() ? "Everything was judged that the recipe computes, stage by stage and end to end."
                    : "What the verdict does not say, and why.",
       open);
  if (!capture.assumptions.empty())
    list(page, "assumed", "Assumed", "What the recorder took for granted, as the run did not say it.",
         capture.assumptions);
  list(page, "claims", "Claims",
       "How the subject says that it computes. Every bound follows from this: a claim that promises too much makes "
       "right "
       "numbers fail, one that promises little lets more pass.",
       capture.claims);
}

}  // namespace tally
