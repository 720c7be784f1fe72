// A capture's page.
#include "reports/capture/capture_report.hpp"
#include "reports/capture/sections.hpp"
#include "reports/html/document.hpp"
#include "reports/text/sha256.hpp"

namespace tally {
namespace {

void body(Markup& page, const CaptureRecord& capture, std::string_view document) {
  const auto open = page.open("body");
  page.element("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the results");
  capture_header(page, capture);
  {
    const auto main = page.open("main", {{"id", "main"}});
    capture_grid_section(page, capture);
    capture_ranks_section(page, capture);
    capture_failure_section(page, capture);
    capture_suspects_section(page, capture);
    capture_stages_section(page, capture);
    capture_words_sections(page, capture);
    capture_reading_section(page, capture);
  }
  const auto footer = page.open("footer");
  page.element("p", {}, "Made by Tally from check.json, SHA-256 ");
  page.element("code", {}, hex(sha256_digest(document)));
}

}  // namespace

std::string capture_html(const CaptureRecord& capture, std::string_view document) {
  std::string out = "<!DOCTYPE html>\n";
  {
    Markup page(out);
    const auto html = page.open("html", {{"lang", "en"}});
    page_head(page, "Tally: " + headline_of(capture));
    page.newline();
    body(page, capture, document);
  }
  return out + '\n';
}

}  // namespace tally
