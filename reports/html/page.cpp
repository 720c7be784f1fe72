// report.html: one file, no request, no script, the same bytes for the same results.
#include "reports/html/sections.hpp"
#include "reports/report.hpp"
#include "reports/text/sha256.hpp"

namespace tally {
namespace {

void head(Markup& page, const std::string& title) {
  const std::string style = style_sheet();
  const auto open = page.open("head");
  page.empty("meta", {{"charset", "utf-8"}});
  page.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                      {"content", "default-src 'none'; style-src 'sha256-" + base64(sha256(style)) +
                                      "'; img-src data:; base-uri 'none'; form-action 'none'"}});
  page.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  page.element("title", {}, title);
  page.empty("link", {{"rel", "icon"}, {"href", "data:,"}});
  page.newline();
  const auto element = page.open("style");
  page.trusted(style);
}

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
    head(page, "Tally: " + verdict_sentence(results));
    page.newline();
    body(page, results);
  }
  return out + '\n';
}

}  // namespace tally
