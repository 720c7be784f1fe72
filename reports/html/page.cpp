// report.html: one file, no request, no script, the same bytes for the same results.
#include "reports/html/document.hpp"
#include "reports/html/sections.hpp"
#include "reports/report.hpp"

namespace tally {
namespace {

void body(Markup& page, const Results& results) {
  const auto open = page.open("body");
  page.element("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the results");
  header_section(page, results);
  const auto main = page.open("main", {{"id", "main"}});
  overview_section(page, results);
  failures_section(page, results);
  worst_cases_section(page, results);
  laws_section(page, results);
  teeth_section(page, results);
  training_section(page, results);
  environment_section(page, results);
  reading_section(page, results);
}

}  // namespace

std::string report_html(const Results& results) {
  std::string out = "<!DOCTYPE html>\n";
  {
    Markup page(out);
    const auto html = page.open("html", {{"lang", "en"}});
    page_head(page, "Tally: " + verdict_sentence(results));
    page.newline();
    body(page, results);
  }
  return out + '\n';
}

}  // namespace tally
