// report.html: one file, no request, whole without its script, the same bytes for the same results.
#include "reports/html/document.hpp"
#include "reports/page/sections.hpp"
#include "reports/report.hpp"

namespace tally {
namespace {

void sections(Markup& page, const Results& results, const ReportContext& context, const Ranking& ranking) {
  const auto main = page.open("main", {{"id", "main"}});
  overview_section(page, results, ranking);
  failures_section(page, results);
  baseline_section(page, results, context);
  history_section(page, results, context);
  kernels_section(page, results, ranking);
  worst_cases_section(page, results, ranking);
  drift_section(page, results);
  laws_section(page, results, ranking);
  fault_coverage_section(page, results);
  triggers_section(page, results);
  rules_section(page, results);
  evidence_section(page, results);
  gate_section(page, results);
  training_section(page, results);
  ledger_section(page, results);
  environment_section(page, results);
  reading_section(page, results);
}

void body(Markup& page, const Results& results, const ReportContext& context) {
  const auto open = page.open("body");
  page.element("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the results");
  const Ranking ranking(results);
  header_section(page, results, context, ranking);
  sections(page, results, context, ranking);
  footer_section(page, results);
  page_script(page, script());
}

}  // namespace

std::string report_html(const Results& results, const ReportContext& context) {
  std::string out = "<!DOCTYPE html>\n";
  {
    Markup page(out);
    const auto html = page.open("html", {{"lang", "en"}});
    page_head(page, "Tally: " + verdict_sentence(results), script());
    page.newline();
    body(page, results, context);
  }
  return out + '\n';
}

}  // namespace tally
